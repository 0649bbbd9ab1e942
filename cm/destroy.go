package cm

import (
	"time"

	"github.com/purerdma/rdma/abi"
)

// closePatience is how long Close waits for the kernel to destroy an ID whose
// peer owes an answer.
var closePatience = 2 * time.Second

// What an ID expects of its peer.
const (
	awaitsNothing int32 = iota
	awaitsAnswer        // a message may wait for the peer's answer
	hasParted           // the peer has said goodbye, and says nothing any more
)

// expectAnswer notes that a message is about to wait for the peer's answer.
func (id *ID) expectAnswer() { id.awaits.CompareAndSwap(awaitsNothing, awaitsAnswer) }

// noteAnswer notes an event that ends the wait for an answer.
func (id *ID) noteAnswer(t abi.RDMACMEventType) {
	switch t {
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE, abi.RDMA_CM_EVENT_ESTABLISHED, abi.RDMA_CM_EVENT_REJECTED,
		abi.RDMA_CM_EVENT_CONNECT_ERROR:
		id.awaits.Store(awaitsNothing)
	case abi.RDMA_CM_EVENT_DISCONNECTED:
		id.awaits.Store(hasParted)
	}
}

// destroy runs DESTROY_ID. The kernel waits in it for messages under way, which
// it takes back; when that fails, until their last repetition, more than a
// minute (seen on 7.3: cm_destroy_id after ib_cancel_mad). So when a message may
// be under way the wait has a limit, and the kernel finishes in the background:
// the channel returned is closed then. It is nil when the ID is gone.
func (id *ID) destroy() (later <-chan struct{}, err error) {
	ch, handle := id.channel.ch, id.handle
	if id.awaits.Load() != awaitsAnswer {
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
