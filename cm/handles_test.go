package cm

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// handleTests are what EINVAL may mean for a command that sends a message, by
// the device's address handles.
var handleTests = []struct {
	name       string
	most, used int
	ended      bool // the other end may have ended it
	lacking    bool // an address handle may have been missing
}{
	{"device with many", 32767, 0, true, false},
	{"device with few, all in use", 100, 100, false, true},
	{"device with few, some free", 100, 40, true, true},
}

// failOnce makes the next command of a kind on an ID fail with EINVAL.
func (r *rig) failOnce(cmd uint32, only func(id uint32) bool) {
	var failed atomic.Bool
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" && c.Cmd == cmd && only(c.ID) && !failed.Swap(true) {
			return syscall.EINVAL
		}
		return nil
	}
}

// TestAcceptWithoutHandle: an accept that the kernel refuses is the peer's doing
// only when the device cannot be the reason.
func TestAcceptWithoutHandle(t *testing.T) {
	for _, tt := range handleTests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.verbs.MaxAH, r.verbs.TakenAH = tt.most, tt.used
			r.failOnce(abi.RDMA_USER_CM_CMD_ACCEPT, func(uint32) bool { return true })
			l := r.listen(nil)
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			dialed := async(func() (*Conn, error) { return new(Dialer).DialAddr(ctx, serverAddr) })
			req, err := l.Accept(ctx)
			if err != nil {
				t.Fatal(err)
			}
			_, err = req.Accept(ctx, nil)
			wants(t, err, syscall.EINVAL)
			if gone, lacking := errors.Is(err, ErrPeerGone), errors.Is(err, ErrNoHandles); gone != tt.ended || lacking != tt.lacking {
				t.Errorf("peer gone %v, no handles %v: %v", gone, lacking, err)
			}
			if tt.lacking {
				wantsText(t, err, fmt.Sprintf("no address handle left of %d", tt.most), "fewer connections at a time")
			}
			cancel()
			_, err = get(t, dialed)
			if err == nil {
				t.Error("the dial succeeded")
			}
		})
	}
}

// TestConnectWithoutHandle: the same for the side that connects, with its
// request and with its confirmation.
func TestConnectWithoutHandle(t *testing.T) {
	for _, tt := range handleTests {
		for _, cmd := range []uint32{abi.RDMA_USER_CM_CMD_CONNECT, abi.RDMA_USER_CM_CMD_ACCEPT} {
			t.Run(fmt.Sprintf("%s, command %d", tt.name, cmd), func(t *testing.T) {
				r := newRig(t)
				r.verbs.MaxAH, r.verbs.TakenAH = tt.most, tt.used
				var client atomic.Int64
				client.Store(-1)
				r.cm.After = func(c fakecm.Call) {
					if c.Cmd == abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE {
						client.Store(int64(c.ID))
					}
				}
				r.failOnce(cmd, func(id uint32) bool { return int64(id) == client.Load() })
				l := r.listen(nil)
				ctx, cancel := context.WithCancel(testContext(t))
				defer cancel()
				accepted := async(func() (*Conn, error) {
					req, err := l.Accept(ctx)
					if err != nil {
						return nil, err
					}
					return req.Accept(ctx, nil)
				})
				conn, err := new(Dialer).DialAddr(ctx, serverAddr)
				if cmd == abi.RDMA_USER_CM_CMD_CONNECT && tt.lacking && tt.used < tt.most {
					// A handle was free again, and the second try found it.
					server, acceptErr := get(t, accepted)
					if err := errors.Join(err, acceptErr); err != nil {
						t.Fatal(err)
					}
					if err := errors.Join(conn.Close(), server.Close()); err != nil {
						t.Error(err)
					}
					return
				}
				wants(t, err, syscall.EINVAL)
				ended := tt.ended && cmd == abi.RDMA_USER_CM_CMD_ACCEPT
				lacking := tt.lacking
				if closed, none := errors.Is(err, ErrPeerClosed), errors.Is(err, ErrNoHandles); closed != ended || none != lacking {
					t.Errorf("peer closed %v, no handles %v: %v", closed, none, err)
				}
				cancel()
				if c, err := get(t, accepted); err == nil {
					_ = c.Close()
				}
			})
		}
	}
}

// TestConnectRefused: EINVAL that comes again although the device has address handles
// is not for want of one, and the command is not repeated without end.
func TestConnectRefused(t *testing.T) {
	for _, tt := range handleTests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.verbs.MaxAH, r.verbs.TakenAH = tt.most, tt.used
			var tries atomic.Int32
			r.cm.Before = func(c fakecm.Call) error {
				if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
					tries.Add(1)
					return syscall.EINVAL
				}
				return nil
			}
			_, err := new(Dialer).DialAddr(testContext(t), serverAddr)
			wants(t, err, syscall.EINVAL)
			if none, used := errors.Is(err, ErrNoHandles), tt.used == tt.most; none != used {
				t.Errorf("no handles %v, expected %v: %v", none, used, err)
			}
			want := int32(1)
			if tt.lacking && tt.used < tt.most {
				want = connectTries
			}
			if n := tries.Load(); n != want {
				t.Errorf("%d connect commands, expected %d", n, want)
			}
		})
	}
}
