package cm

import (
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// TestPeerLeavesWhileEstablishing: a peer that answers and disconnects at once
// makes the next command fail with EINVAL, before its event is here.
func TestPeerLeavesWhileEstablishing(t *testing.T) {
	for _, cmd := range []uint32{abi.RDMA_USER_CM_CMD_INIT_QP_ATTR, abi.RDMA_USER_CM_CMD_ACCEPT} {
		t.Run(fmt.Sprint(cmd), func(t *testing.T) {
			r := newRig(t)
			var client atomic.Int64
			client.Store(-1)
			r.cm.After = func(c fakecm.Call) {
				if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
					client.Store(int64(c.ID))
				}
			}
			r.cm.Before = func(c fakecm.Call) error {
				if c.Op == "write" && c.Cmd == cmd && int64(c.ID) == client.Load() {
					return syscall.EINVAL
				}
				return nil
			}
			l := r.listen(nil)
			ctx := testContext(t)
			dialed := async(func() (*Conn, error) { return new(Dialer).DialAddr(ctx, serverAddr) })
			req, err := l.Accept(ctx)
			if err != nil {
				t.Fatal(err)
			}
			accepted := async(func() (*Conn, error) { return req.Accept(ctx, nil) })
			_, err = get(t, dialed)
			wants(t, err, ErrPeerClosed, io.EOF, syscall.EINVAL)
			wantsText(t, err, "dial ", ": establish: connection closed by peer: rdma_cm ")
			if c, err := get(t, accepted); err == nil {
				_ = c.Close()
			}
			_ = l.Close()
		})
	}
}
