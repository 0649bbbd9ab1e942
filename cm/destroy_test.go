package cm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
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

// TestDestroyFails: an errno that may come from the end of a device is no success while
// the ID lives, and another Close destroys it.
func TestDestroyFails(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EIO, syscall.ENODEV, syscall.ENXIO} {
		for _, gone := range []bool{false, true} {
			t.Run(fmt.Sprint(errno, ", device gone ", gone), func(t *testing.T) {
				r := newRig(t)
				var refuse atomic.Bool
				r.cm.Before = func(c fakecm.Call) error {
					if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID && refuse.Swap(false) {
						return errno
					}
					return nil
				}
				keep := r.newID()
				id, err := NewID(nil)
				if err == nil {
					err = id.Bind(sockaddr(t, "10.0.0.1:0"))
				}
				if err != nil {
					t.Fatal(err)
				}
				if gone {
					r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
				}
				refuse.Store(true)
				wants(t, id.Close(), errno)
				if owned, _ := r.cm.Handles(); len(owned) != 2 {
					t.Errorf("%d IDs in the kernel", len(owned))
				}
				wants(t, id.Bind(sockaddr(t, "10.0.0.1:0")), net.ErrClosed)
				if s := keep.Channel().Stats(); s.Failed != 1 {
					t.Errorf("%+v", s)
				}
				if err := errors.Join(id.Close(), id.Close()); err != nil {
					t.Error(err)
				}
				if owned, _ := r.cm.Handles(); len(owned) != 1 {
					t.Errorf("%d IDs in the kernel after the second close", len(owned))
				}
			})
		}
	}
}

// TestSlowDestroyOfMany: a kernel that holds up the destruction of IDs does not make
// the close of a listener, whose requests wait, and of a channel take longer than of
// one ID.
func TestSlowDestroyOfMany(t *testing.T) {
	r := newRig(t)
	c, hold := r.destroysBlock()
	own, err := NewEventChannel(&ucma.Options{Kernel: host.kernel})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ListenAddr(serverAddr, &ListenConfig{Config: quick})
	if err != nil {
		t.Fatal(err)
	}
	const requests = 5
	var dialed []<-chan result[*Conn]
	for i := range requests {
		dialed = append(dialed, r.dialInto(l, i+1))
	}
	for range requests {
		if _, err := NewID(&IDOptions{Channel: own}); err != nil {
			t.Fatal(err)
		}
	}
	hold()
	for _, tc := range []struct {
		name  string
		close func() error
	}{{"listener", l.Close}, {"channel", own.Close}} {
		start := time.Now()
		if err := tc.close(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
		if d := time.Since(start); d >= requests*closePatience {
			t.Errorf("the %s took %v to close", tc.name, d)
		}
	}
	// The dials have been told, so their own IDs may be among them.
	if s := l.ID().Channel().Stats(); s.HeldUp < 1 || s.Destroying < 1+requests || s.Destroying > 1+2*requests {
		t.Errorf("%+v", s)
	}
	c.letGo()
	for _, d := range dialed {
		_, err := get(t, d)
		wants(t, err, ErrRejected)
	}
	r.waitClosed()
}
