package cm

import (
	"context"
	"fmt"
	"slices"
	"syscall"

	"github.com/purerdma/rdma/ucma"
)

// A command is a connect command in the background.
type command struct {
	call
	left chan struct{} // closed when Close does not wait for it
}

var errConnecting = fmt.Errorf("an earlier connect is still under way, and the ID can only be closed: %w", syscall.EALREADY)

// connectWithin is StartConnect that returns when ctx ends, although siw opens the TCP
// connection in the command (kernel_bindconnect), for which a peer that does not
// answer at all has as long as TCP gives it (net.ipv4.tcp_syn_retries, some two
// minutes).
func (id *ID) connectWithin(ctx context.Context, p *ucma.ConnParam, ece ucma.ECE) error {
	if id.notIWARP.Load() {
		return id.StartConnect(p, ece)
	}
	if id.isClosed() {
		return errClosedID
	}
	earlier := id.connecting.Load()
	if id.mayConnect() {
		return errConnecting
	}
	own := *p // the caller may change his afterwards
	own.PrivateData = slices.Clone(p.PrivateData)
	cmd := &command{call: call{done: make(chan struct{})}, left: make(chan struct{})}
	if !id.connecting.CompareAndSwap(earlier, cmd) {
		return errConnecting
	}
	if id.closing.Load() { // Close may not have seen the command
		cmd.finish(errClosedID)
		return errClosedID
	}
	netns, unpin := pinNetNS()
	background.connects.run(func() {
		defer unpin()
		if err := ctx.Err(); err != nil { // others were before it
			cmd.finish(err)
			return
		}
		// Explaining a failure looks at the device, which is the namespace's.
		cmd.finish(inNetNS(netns, func() error { return id.StartConnect(&own, ece) }))
	})
	select {
	case <-cmd.done:
		return cmd.err
	case <-cmd.left:
		return errClosedID
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mayConnect reports whether a connect command is under way.
func (id *ID) mayConnect() bool {
	cmd := id.connecting.Load()
	return cmd != nil && !cmd.isDone()
}

// closeLater is startClose while the kernel holds on to a command, with which the gate
// is locked: what comes after it is refused from now on, and the ID destroyed when
// the kernel has returned.
func (id *ID) closeLater(c *EventChannel, cmd *command) *call {
	if c != nil && id.Channel() != c {
		id.closing.Store(false) // it has migrated
		return nil
	}
	if id.closed.Swap(true) {
		return nil
	}
	close(cmd.left)
	d := newCall()
	cmd.then(func() {
		id.gate.Lock() // the command has returned, but perhaps not its caller
		defer id.gate.Unlock()
		id.channel.destroy(id.handle, id.takeRefusal(), d)
	})
	return d
}
