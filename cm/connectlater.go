package cm

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/purerdma/rdma/ucma"
)

// A command is one that a goroutine runs, because the kernel may hold on to it.
type command struct {
	done chan struct{} // closed when the kernel has returned; err is set then
	left chan struct{} // closed when Close does not wait for it
	err  error
}

// ends reports whether the command is over within a time.
func (c *command) ends(d time.Duration) bool {
	select {
	case <-c.done:
		return true
	default:
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-c.done:
		return true
	case <-timer.C:
		return false
	}
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
	cmd := &command{done: make(chan struct{}), left: make(chan struct{})}
	if !id.connecting.CompareAndSwap(earlier, cmd) {
		return errConnecting
	}
	if id.closing.Load() { // Close may not have seen the command
		cmd.err = errClosedID
		close(cmd.done)
		return errClosedID
	}
	go func() {
		defer close(cmd.done)
		cmd.err = id.StartConnect(&own, ece)
	}()
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
	return cmd != nil && !cmd.ends(0)
}

// closeLater is closeOn while the kernel holds on to a command, with which the gate
// is locked: what comes after it is refused from now on, and the ID destroyed when
// the kernel has returned.
func (id *ID) closeLater(c *EventChannel, cmd *command) {
	if c != nil && id.Channel() != c {
		id.closing.Store(false) // it has migrated
		return
	}
	if id.closed.Swap(true) {
		return
	}
	close(cmd.left)
	destroyed := make(chan struct{})
	go func() {
		defer close(destroyed)
		<-cmd.done
		id.gate.Lock()
		defer id.gate.Unlock()
		if later, _ := id.destroy(); later != nil {
			<-later
		}
	}()
	id.forget(destroyed)
}
