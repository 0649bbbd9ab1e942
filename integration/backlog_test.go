//go:build linux

package integration

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

const maxBacklogFile = "/proc/sys/net/rdma_ucm/max_backlog"

// TestKernelBacklog: the kernel keeps as many requests for a listener as the sysctl
// allows, whatever it asks for, and drops the others without notice. A dial to this host
// that nobody answers says so.
func TestKernelBacklog(t *testing.T) {
	requireRDMA(t)
	if onIWARP() {
		t.Skip("iw_cm keeps requests apart, and TCP answers for those that do not fit")
	}
	checkLeaks(t)
	const allowed, dials = 4, 16
	setSysctl(t, maxBacklogFile, "4")
	const address = addrV4 + ":7481"
	for _, asked := range []uint32{0, 3, 1000} {
		waiting := unfetched(t, address, asked, func() {
			var wg sync.WaitGroup
			for range dials {
				wg.Go(func() {
					ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
					defer cancel()
					c, err := cm.Dial(ctx, address)
					if err == nil {
						c.Close()
					}
					var oe *cm.OpError
					if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &oe) {
						t.Errorf("dial: %v", err)
					} else if oe.Step == "connect" && !strings.Contains(oe.Hint, "net.rdma_ucm.max_backlog allows 4, usually 1024") {
						t.Errorf("hint %q", oe.Hint)
					}
				})
			}
			wg.Wait()
		})
		want := allowed
		if asked == 3 {
			want = 3
		}
		if waiting != want {
			t.Errorf("with a backlog of %d there wait %d of %d requests, expected %d", asked, waiting, dials, want)
		}
	}
}

// unfetched runs f beside a listener that fetches nothing, and returns how many requests
// waited then.
func unfetched(t *testing.T, address string, backlog uint32, f func()) int {
	t.Helper()
	ch, err := ucma.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ch.Close()
	addr, err := ucma.SockaddrFrom(netip.MustParseAddrPort(address))
	if err != nil {
		t.Fatal(err)
	}
	id, err := ch.CreateID(1, abi.RDMA_PS_TCP, uint8(abi.IB_UVERBS_QPT_RC))
	if err == nil {
		err = errors.Join(ch.Bind(id, addr), ch.Listen(id, backlog))
	}
	if err != nil {
		t.Fatal(err)
	}
	f()
	n := 0
	for {
		ev, err := ch.TryGetEvent()
		if errors.Is(err, syscall.EAGAIN) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		if ev.Type == abi.RDMA_CM_EVENT_CONNECT_REQUEST {
			n++
		}
	}
}

// TestListenerBacklogLimit: a listener knows what the kernel keeps for it, fetches at
// once, and is refused where nothing could arrive.
func TestListenerBacklogLimit(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	if s := listenOn(t, addrV4+":7482", nil).Stats(); s.KernelBacklog != 1024 {
		t.Errorf("%+v", s)
	}
	setSysctl(t, maxBacklogFile, "1")
	l := listenOn(t, addrV4+":7483", nil)
	if s := l.Stats(); s.KernelBacklog != 1 {
		t.Errorf("%+v", s)
	}
	for range 3 { // one after the other is no burst
		client, server, _ := connect(t, l, &cm.Dialer{}, nil)
		exchange(t, client, server, 1)
	}
	setSysctl(t, maxBacklogFile, "0")
	refused, err := cm.Listen(testContext(t), addrV4+":7484", nil)
	if err == nil {
		refused.Close()
	}
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "net.rdma_ucm.max_backlog is 0") {
		t.Errorf("listen: %v", err)
	}
	if n := unfetched(t, addrV4+":7485", 0, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if c, err := cm.Dial(ctx, addrV4+":7485"); err == nil {
			c.Close()
		}
	}); n != 0 {
		t.Errorf("with a limit of 0 there wait %d requests: listening need not be refused", n)
	}
}
