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
	"github.com/purerdma/rdma/ucma"
)

// idSession goes through what programs at the ID level ask of the connection
// manager, and closes everything.
func idSession(r *rig) (err error) {
	t := r.t
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	var closers []func() error
	defer func() {
		for i := len(closers) - 1; i >= 0; i-- {
			err = errors.Join(err, closers[i]())
		}
	}()
	ch, err := openChannelOn(r)
	if err != nil {
		return err
	}
	closers = append(closers, ch.Close)
	dst := sockaddr(t, serverAddr.String())
	id, err := NewEndpoint(ctx, &AddrInfo{Dst: dst, PortSpace: abi.RDMA_PS_UDP}, nil)
	if err != nil {
		return err
	}
	closers = append(closers, id.Close)
	if err := id.Migrate(ch); err != nil {
		return err
	}
	m, err := NewEndpoint(ctx, &AddrInfo{Passive: true, Src: dst, PortSpace: abi.RDMA_PS_UDP}, nil)
	if err != nil {
		return err
	}
	closers = append(closers, m.Close)
	g, err := m.JoinMulticast(ctx, sockaddr(t, "239.1.2.3:0"), nil)
	if err != nil {
		return err
	}
	if err := errors.Join(m.Migrate(ch), g.Leave(), m.Migrate(nil), m.Listen(0)); err != nil {
		return err
	}
	found := async(func() (int, error) {
		err := second(id.ConnectDatagram(ctx, nil))
		if err != nil {
			cancel() // or the other side waits for a request that never comes
		}
		return 0, err
	})
	req, _, err := m.NextRequest(ctx)
	if err != nil {
		cancel()
		_, findErr := get(t, found)
		return errors.Join(err, findErr)
	}
	closers = append(closers, req.Close)
	err = req.AcceptDatagram(&DatagramReply{QPNum: 1})
	if err != nil {
		_ = req.Close()
	}
	_, findErr := get(t, found)
	return errors.Join(err, findErr)
}

func openChannelOn(r *rig) (*EventChannel, error) {
	return openChannel(&ucma.Options{Kernel: r.cm}, nil)
}

// TestIDFailures fails each call in turn: an error comes back, and nothing is
// left (the rig looks).
func TestIDFailures(t *testing.T) {
	var total int64
	for n := int64(0); n == 0 || n <= total; n++ {
		t.Run(fmt.Sprintf("call %d", n), func(t *testing.T) {
			r := newRig(t)
			var made atomic.Int64
			r.cm.Before = func(c fakecm.Call) error {
				if c.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT || c.Op == "close" || c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID && c.Op == "write" {
					return nil
				}
				if made.Add(1) == n {
					return syscall.ENOMEM
				}
				return nil
			}
			err := idSession(r)
			switch {
			case n == 0 && err != nil:
				t.Fatal(err)
			case n == 0:
				total = made.Load()
			case err == nil:
				t.Error("the failure does not show")
			}
		})
	}
}
