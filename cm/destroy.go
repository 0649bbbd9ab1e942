package cm

import "time"

// closePatience is how long Close waits for the kernel to destroy an ID that has
// sent messages.
var closePatience = 2 * time.Second

// expectAnswer notes that a message is about to wait for the peer's answer.
func (id *ID) expectAnswer() { id.spoke.Store(true) }

// destroy runs DESTROY_ID. The kernel waits in it for messages under way, which
// it takes back; when that fails, until their last repetition, more than a
// minute (seen on 7.3: cm_destroy_id after ib_cancel_mad). That an answer has come, or
// the peer's goodbye, is no reason to be without it: the kernel takes the message back
// then too. So for an ID that has sent any the wait has a limit, and the kernel
// finishes in the background: the channel returned is closed then. It is nil when the
// ID is gone.
func (id *ID) destroy() (later <-chan struct{}, err error) {
	ch, handle := id.channel.ch, id.handle
	if !id.spoke.Load() {
		_, err := ch.DestroyID(handle)
		return nil, err
	}
	var result error
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, result = ch.DestroyID(handle)
	}()
	timer := time.NewTimer(closePatience)
	defer timer.Stop()
	select {
	case <-done:
		return nil, result
	case <-timer.C:
		return done, nil
	}
}
