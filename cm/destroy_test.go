package cm

import (
	"context"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// TestSlowDestroy: a kernel that takes long to destroy an ID whose request is
// not answered does not hold up the end of a dial, and what is left goes with the
// kernel's return.
func TestSlowDestroy(t *testing.T) {
	r := newRig(t)
	r.cm.Mute(abi.RDMA_USER_CM_CMD_CONNECT)
	sent, stuck, finish := make(chan struct{}), make(chan struct{}), make(chan struct{})
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID {
			close(stuck)
			<-finish
		}
		return nil
	}
	r.cm.After = func(c fakecm.Call) {
		if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
			close(sent)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	dialed := async(func() (*Conn, error) { return new(Dialer).DialAddr(ctx, serverAddr) })
	<-sent
	cancel()
	<-stuck
	_, err := get(t, dialed) // although the command goes on
	wants(t, err, context.Canceled)
	shared.mu.Lock()
	open := shared.ch != nil
	shared.mu.Unlock()
	if !open {
		t.Error("the channel was closed under a command")
	}
	close(finish)
	r.waitClosed()
}

// waitClosed returns when the last channel is closed; the rig looks for the rest.
func (r *rig) waitClosed() {
	r.t.Helper()
	waitFor(r.t, func() bool { return r.cm.Left().Files == 0 })
}

// TestSlowDestroyOfConnected is the same for both ends of a connection, of which one
// has said goodbye and the other has got it: the kernel may still be about to take
// messages back.
func TestSlowDestroyOfConnected(t *testing.T) {
	r := newRig(t)
	l, err := ListenAddr(serverAddr, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, server := r.pair(l, new(Dialer))
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	finish := make(chan struct{})
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID {
			<-finish
		}
		return nil
	}
	for _, end := range []struct {
		name string
		c    *Conn
	}{{"client", client}, {"server", server}} {
		// Although the command goes on.
		if _, err := get(t, async(func() (int, error) { return 0, end.c.Close() })); err != nil {
			t.Errorf("%s: %v", end.name, err)
		}
	}
	close(finish)
	r.waitClosed()
}
