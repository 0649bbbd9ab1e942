package cm

import (
	"errors"
	"net"
	"time"
)

// closePatience is how long a Close waits for the kernel to destroy IDs.
var closePatience = 2 * time.Second

// patience is the end of the wait of a Close that begins now.
func patience() time.Time { return time.Now().Add(closePatience) }

// destroy runs DESTROY_ID in the background, after a REJECT with a text, if not empty.
//
// The kernel (cm_destroy_id) takes the ID's request, answer or goodbye back
// (ib_cancel_mad), each of which holds the ID (cm_alloc_priv_msg, until cm_send_handler),
// and waits for that without a limit (cm_destroy_id_wait_timeout only says so in its log).
// A message that waits for its answer or, since ib_mad bounds how many do
// (mad_is_for_backlog), for its turn, comes back at once (timeout_sends). One that is
// being sent comes back when queue pair 1 has sent it (ib_mad_send_done): up to 128 are
// before it, others in overflow_list, and soft-RoCE stops at 64 packets that the network
// has not let go (RXE_INFLIGHT_SKBS_PER_QP_HIGH). On 7.3 one ID in some thousand took
// 78 s, as long as all repetitions of a message.
func (c *EventChannel) destroy(handle uint32, refusal string, d *call) {
	c.destroying.add(1)
	background.destroys.run(func() {
		if refusal != "" {
			_ = c.ch.Reject(handle, []byte(refusal), 0) // fails when the peer has gone
		}
		_, err := c.ch.DestroyID(handle)
		if errors.Is(err, net.ErrClosed) {
			err = nil // the channel was closed before, and took the ID along
		}
		if err != nil {
			c.failed.Add(1)
		}
		c.destroying.add(-1)
		d.finish(err)
	})
}

// Close destroys the ID (rdma_destroy_id; kernel command DESTROY_ID). A
// connected peer is told, a waiting request is rejected, multicast groups are
// left, blocked steps return. It waits while the kernel finishes work in progress on
// the ID, but two seconds at most: then the kernel finishes in the background. The
// queue pair, if there is one, is closed before. When the command fails, which no
// kernel is known to do, the ID lives, although it can only be closed, until another
// Close or the end of its channel.
func (id *ID) Close() error { return id.closeBy(patience()) }

// closeBy is Close with another limit.
func (id *ID) closeBy(deadline time.Time) error {
	d := id.startClose(nil, deadline)
	if d == nil {
		return nil
	}
	return id.finishClose(d, deadline)
}

// closeSoon is Close that does not wait; done is called when the kernel is through.
func (id *ID) closeSoon(done func()) {
	d := id.startClose(nil, time.Time{})
	if d == nil {
		done()
		return
	}
	id.forget(time.Time{})
	d.then(func() {
		done()
		id.giveBack()
	})
}

// startClose begins the destruction, if the ID is on that channel; nil means any. It
// returns nil if another Close was first.
func (id *ID) startClose(c *EventChannel, deadline time.Time) *call {
	id.closing.Store(true)
	if cmd := id.connecting.Load(); cmd != nil && !cmd.within(deadline) {
		return id.closeLater(c, cmd)
	}
	id.gate.Lock()
	defer id.gate.Unlock()
	if c != nil && id.Channel() != c {
		id.closing.Store(false) // it has migrated
		return nil
	}
	if id.closed.Swap(true) && !id.outlived.Swap(false) {
		return nil
	}
	d := newCall()
	id.channel.destroy(id.handle, id.takeRefusal(), d)
	return d
}

// finishClose waits for the kernel.
func (id *ID) finishClose(d *call, deadline time.Time) error {
	destroyed := d.within(deadline)
	id.forget(deadline)
	if !destroyed {
		id.Channel().heldUp.Add(1)
		d.then(id.giveBack)
		return nil
	}
	id.outlived.Store(d.err != nil)
	id.giveBack()
	return d.err
}

// forget removes the ID from its channel, wakes its waiters, and refuses the
// requests that nobody took.
func (id *ID) forget(deadline time.Time) {
	c := id.Channel() // final, since the ID is closed
	c.remove(id.uid)
	id.delivery.Lock() // an event that is being delivered comes first
	id.mu.Lock()
	id.dead = true
	left := id.events
	id.events = nil
	groups := id.groups
	id.groups = nil
	id.mu.Unlock()
	id.delivery.Unlock()
	for uid, g := range groups {
		c.remove(uid)
		g.end(net.ErrClosed)
	}
	id.lose(net.ErrClosed)
	id.refuseAll(left)
	id.refuseAll(c.raw.drop(id)) // the listener is closed
	id.refusing.within(deadline)
}

// refuseAll destroys the IDs of requests that nobody will take: the peer is rejected, or
// has gone.
func (id *ID) refuseAll(q queue) {
	for i := range q {
		if q[i].request != nil {
			id.refuse(q[i].request, refusedUnheard)
		}
	}
}

// refuse destroys the ID of a request, whose peer gets a text.
func (id *ID) refuse(request *ID, text string) {
	request.setRefusal(text)
	id.refusing.add(1)
	request.closeSoon(func() { id.refusing.add(-1) })
}

// giveBack gives the process-wide channel back.
func (id *ID) giveBack() {
	if id.release != nil {
		id.release()
	}
}
