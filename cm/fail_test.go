package cm

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

// session is a listener, a connection and one message each way: everything
// that this package asks of a kernel. It returns the errors of all parts.
func session(t testing.TB) error {
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	l, err := ListenAddr(serverAddr, &ListenConfig{Config: quick})
	if err != nil {
		return err
	}
	served := async(func() (int, error) { return 0, serveOne(ctx, l) })
	err = dialOne(ctx)
	if err != nil {
		cancel() // or the server waits for a client that never comes
	}
	_, serveErr := get(t, served)
	return errors.Join(err, serveErr, l.Close())
}

func dialOne(ctx context.Context) error {
	c, err := (&Dialer{Config: quick, TOS: 8, PrivateData: []byte("x")}).DialAddr(ctx, serverAddr)
	if err != nil {
		return err
	}
	err = c.SendCopy(ctx, make([]byte, 200))
	if err == nil {
		_, err = c.RecvCopy(ctx, make([]byte, 200))
	}
	return errors.Join(err, c.Close())
}

func serveOne(ctx context.Context, l *Listener) error {
	req, err := l.Accept(ctx)
	if err != nil {
		return err
	}
	c, err := req.Accept(ctx, nil)
	if err != nil {
		return err
	}
	mem, err := c.Alloc(4096, RemoteWrite)
	if err == nil {
		defer mem.Close()
		_, err = c.RecvCopy(ctx, mem.Bytes())
	}
	if err == nil {
		err = c.Send(ctx, mem.Slice(0, 200))
	}
	if err != nil {
		return errors.Join(err, c.Close())
	}
	<-c.Done()
	return c.Close()
}

// calls runs a session without faults and returns how many calls there are to
// fail: of the connection manager without GET_EVENT, whose number depends on
// timing, and of the verbs device.
func calls(t *testing.T) (cm, verbs int) {
	t.Run("no fault", func(t *testing.T) {
		r := newRig(t)
		var n atomic.Int64
		r.cm.Before = func(c fakecm.Call) error {
			if c.Cmd != abi.RDMA_USER_CM_CMD_GET_EVENT {
				n.Add(1)
			}
			return nil
		}
		if err := session(t); err != nil {
			t.Fatal(err)
		}
		cm, verbs = int(n.Load()), len(r.verbs.Calls())
	})
	return cm, verbs
}

// destroys reports calls that take something away. Making them fail says
// nothing about constructors, and the kernel does not.
func destroys(c fakecm.Call) bool {
	return c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID && c.Op == "write" || c.Op == "close"
}

// TestEachConnectionManagerCallFails fails each call in turn. Whatever the
// operations return, the rig finds no survivors.
func TestEachConnectionManagerCallFails(t *testing.T) {
	total, _ := calls(t)
	for fail := 1; fail <= total; fail++ {
		t.Run(fmt.Sprint(fail), func(t *testing.T) {
			r := newRig(t)
			var n atomic.Int64
			var hit atomic.Pointer[fakecm.Call]
			r.cm.Before = func(c fakecm.Call) error {
				if c.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT || n.Add(1) != int64(fail) || destroys(c) {
					return nil
				}
				hit.Store(&c)
				return syscall.ENOMEM
			}
			checkFailure(t, session(t), hit.Load())
		})
	}
}

// checkFailure: what failed is reported, except what is only polite: a goodbye,
// and that data came before the confirmation. A request whose addresses cannot be read is refused, so there the
// client's error is another one.
func checkFailure(t *testing.T, err error, hit *fakecm.Call) {
	t.Helper()
	switch {
	case hit == nil || hit.Cmd == abi.RDMA_USER_CM_CMD_DISCONNECT || hit.Cmd == abi.RDMA_USER_CM_CMD_NOTIFY:
	case hit.Cmd == abi.RDMA_USER_CM_CMD_QUERY_ROUTE && errors.Is(err, ErrRejected):
	case !errors.Is(err, syscall.ENOMEM):
		t.Errorf("call %+v failed, session returned %v", *hit, err)
	}
}

// sessionEvents is how many events a session needs: address, route, request, answer
// and confirmation. Two that tell of its end may follow.
const sessionEvents = 5

// TestEachEventReadFails breaks the reader of events after each event that it has
// read. Whoever needs another one is told.
func TestEachEventReadFails(t *testing.T) {
	for read := range sessionEvents + 3 {
		t.Run(fmt.Sprint(read), func(t *testing.T) {
			r := newRig(t)
			var n atomic.Int64
			var once atomic.Bool
			r.cm.Before = func(c fakecm.Call) error {
				if c.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT && n.Load() == int64(read) && !once.Swap(true) {
					return syscall.ENOMEM
				}
				return nil
			}
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT {
					n.Add(1)
				}
			}
			err := session(t)
			if err != nil && !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("got %v", err)
			}
			// Afterwards only the end is left, which may have come before the failure.
			if err == nil && read < sessionEvents {
				t.Errorf("the reader failed after %d events, and the session did not", read)
			}
		})
	}
}

// TestEachVerbsCallFails fails each call on the verbs device in turn.
func TestEachVerbsCallFails(t *testing.T) {
	_, total := calls(t)
	for fail := range total {
		t.Run(fmt.Sprint(fail), func(t *testing.T) {
			r := newRig(t)
			// The kernel destroys what nobody uses. If it did not, only
			// closing the device would help.
			r.verbs.SpareDestroys = true
			r.verbs.FailCall(fail, syscall.ENOMEM)
			err := session(t)
			name := "DESTROY"
			if made := r.verbs.Calls(); fail < len(made) {
				name = made[fail]
			}
			// Arming may fail when what was waited for is there already, and
			// a doorbell is rung again.
			if err == nil && !strings.Contains(name, "DESTROY") && name != "REQ_NOTIFY_CQ" && name != "POST_SEND" {
				t.Errorf("call %d (%s) failed, session returned nothing", fail, name)
			}
		})
	}
}

// TestSpuriousEvents: the device says readable and has nothing, again and
// again.
func TestSpuriousEvents(t *testing.T) {
	r := newRig(t)
	var n atomic.Int64
	r.cm.Before = func(c fakecm.Call) error {
		if c.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT && c.Op == "write" && n.Add(1)%4 != 0 {
			return syscall.EAGAIN
		}
		return nil
	}
	if err := session(t); err != nil {
		t.Error(err)
	}
}

// TestShortWrites: half a command is a failed command.
func TestShortWrites(t *testing.T) {
	for _, cmd := range []uint32{
		abi.RDMA_USER_CM_CMD_CREATE_ID, abi.RDMA_USER_CM_CMD_BIND, abi.RDMA_USER_CM_CMD_CONNECT,
		abi.RDMA_USER_CM_CMD_ACCEPT, abi.RDMA_USER_CM_CMD_GET_EVENT,
	} {
		t.Run(ucma.CommandName(cmd), func(t *testing.T) {
			r := newRig(t)
			var once atomic.Bool
			r.cm.Before = func(c fakecm.Call) error {
				if c.Op == "write" && c.Cmd == cmd && !once.Swap(true) {
					return fakecm.ErrShort
				}
				return nil
			}
			wants(t, session(t), syscall.EIO)
		})
	}
}

// TestOldKernel: nothing here needs what newer kernels added.
func TestOldKernel(t *testing.T) {
	r := newRig(t)
	r.cm.Old, r.verbs.NoIoctl = true, true
	if err := session(t); err != nil {
		t.Error(err)
	}
}

// TestRefusedWrites: a process that changed its credentials is told so.
func TestRefusedWrites(t *testing.T) {
	r := newRig(t)
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" {
			return syscall.EACCES
		}
		return nil
	}
	wants(t, session(t), ucma.ErrCredentialsChanged, syscall.EACCES, os.ErrPermission)
}
