//go:build linux

package integration

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// verbsEvent waits for an event of a type and skips others of ports.
func verbsEvent(t testing.TB, c *uverbs.Context, typ abi.IBEventType) uverbs.AsyncEvent {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	for {
		e, err := c.NextAsyncEvent(ctx)
		if err != nil {
			t.Fatalf("wait for %v: %v", typ, err)
		}
		if e.Type == typ {
			return e
		}
		if e.Scope() != uverbs.ScopePort {
			t.Fatalf("got %v, want %v", e, typ)
		}
	}
}

// TestVerbsAsyncQP drains a send queue.
func TestVerbsAsyncQP(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, _ := verbsPair(t, c)
		err := a.qp.Modify(uverbs.QPAttr{State: abi.IB_QPS_SQD, SQDNotify: true}, abi.IB_QP_STATE|abi.IB_QP_EN_SQD_ASYNC_NOTIFY)
		if err != nil {
			t.Fatal(err)
		}
		if e := verbsEvent(t, c, abi.IB_EVENT_SQ_DRAINED); e.QP != a.qp || e.Scope() != uverbs.ScopeQP {
			t.Errorf("%+v", e)
		}
	})
}

// TestVerbsAsyncCQ lets a queue overflow: the event names it, and its waiters end.
func TestVerbsAsyncCQ(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		n := a.cq.Entries() + 1
		for i := range n {
			verbsSendWhenRoom(t, a, uverbs.SendWR{
				ID: uint64(i), Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey(),
			})
		}
		if e := verbsEvent(t, c, abi.IB_EVENT_CQ_ERR); e.CQ != a.cq {
			t.Errorf("%+v", e)
		}
		var overflow *uverbs.CQError
		wcs := make([]uverbs.WC, n)
		for {
			ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
			_, err := a.cq.Wait(ctx, wcs)
			cancel()
			if errors.As(err, &overflow) {
				return
			}
			if err != nil {
				t.Fatalf("wait on a queue that overflowed: %v", err)
			}
		}
	})
}

// verbsSendWhenRoom posts a request as soon as there is a place for it.
func verbsSendWhenRoom(t *testing.T, s *verbsSide, wr uverbs.SendWR) {
	t.Helper()
	err := s.qp.PostSend(wr)
	for deadline := time.Now().Add(verbsTimeout); errors.Is(err, uverbs.ErrQueueFull) && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
		err = s.qp.PostSend(wr)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestVerbsAsyncPort makes the port of a device of its own go down and up, and
// gives it an address.
func TestVerbsAsyncPort(t *testing.T) {
	checkLeaks(t)
	discDevice(t) // or skip
	veth := discVeth(t)
	ctx := discContext(t)
	d, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Netdev: veth})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := uverbs.DeleteLink(ctx, d.Name); err != nil {
			t.Error(err)
		}
	}()
	c, err := d.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	want := func(typ abi.IBEventType) {
		t.Helper()
		if e := verbsEvent(t, c, typ); e.Port != 1 || e.Scope() != uverbs.ScopePort {
			t.Errorf("%+v", e)
		}
	}
	peer := discLink(t, "disc1")
	if err := netlink.LinkSetDown(peer); err != nil {
		t.Fatal(err)
	}
	want(abi.IB_EVENT_PORT_ERR)
	if err := netlink.LinkSetUp(peer); err != nil {
		t.Fatal(err)
	}
	want(abi.IB_EVENT_PORT_ACTIVE)
	addr, err := netlink.ParseAddr("10.78.0.1/24")
	if err != nil {
		t.Fatal(err)
	}
	if err := netlink.AddrAdd(discLink(t, veth), addr); err != nil {
		t.Fatal(err)
	}
	want(abi.IB_EVENT_GID_CHANGE)
	if e, err := c.QueryGID(1, verbsGID(t, c).Index); err != nil || e.NetdevIndex != discLink(t, veth).Attrs().Index || e.Netdev != veth {
		t.Errorf("GID of the address: %+v, %v", e, err)
	}
}

// TestVerbsImport shares a context as two processes would: the second uses domain
// and memory of the first, and each has its own events.
func TestVerbsImport(t *testing.T) { verbsEach(t, verbsImport) }

func verbsImport(t *testing.T, c *uverbs.Context) {
	a, b := verbsPair(t, c)
	other := verbsShare(t, c)
	verbsClose(t, other)
	pd, err := other.ImportPD(a.qp.PD().Handle())
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, pd)
	mr, err := pd.ImportMR(b.mr.Handle())
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, mr)
	if mr.RKey() != b.mr.RKey() || mr.LKey() != b.mr.LKey() || mr.Len() != verbsMemSize {
		t.Errorf("imported %v, rkey %#x", mr, mr.RKey())
	}
	ch, err := other.CreateCompChannel()
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, ch)
	x, y := verbsNewSide(t, pd, ch, verbsCap), verbsNewSide(t, pd, ch, verbsCap)
	gid := verbsGID(t, other)
	x.connect(gid, y)
	y.connect(gid, x)
	verbsSend(t, x, y)
	// Through the keys of the other: its memory is this process's too.
	want := x.fill(9)[:64]
	x.send(uverbs.SendWR{
		ID: 1, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled, SGEs: []uverbs.SGE{x.mr.SGE(0, 64)},
		RemoteAddr: b.mr.Addr(), RKey: mr.RKey(),
	})
	x.want(1, abi.IB_WC_RDMA_WRITE)
	verbsEqual(t, "memory of the other", b.mr.Bytes()[:64], want)
	err = x.qp.Modify(uverbs.QPAttr{State: abi.IB_QPS_SQD, SQDNotify: true}, abi.IB_QP_STATE|abi.IB_QP_EN_SQD_ASYNC_NOTIFY)
	if err != nil {
		t.Fatal(err)
	}
	if e := verbsEvent(t, other, abi.IB_EVENT_SQ_DRAINED); e.QP != x.qp {
		t.Errorf("%+v", e)
	}
	verbsSend(t, a, b)
}

// verbsShare makes another context of the same in the kernel, which always uses
// ioctl.
func verbsShare(t *testing.T, c *uverbs.Context) *uverbs.Context {
	t.Helper()
	f, err := c.Export()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := f.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var other *uverbs.Context
	if ctlErr := raw.Control(func(fd uintptr) { other, err = uverbs.ImportContext(int(fd)) }); ctlErr != nil || err != nil {
		t.Fatal(ctlErr, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return other
}

// TestVerbsImportNothing: descriptors that are no context.
func TestVerbsImportNothing(t *testing.T) {
	d := verbsDevice(t)
	f, err := os.OpenFile(d.CharDev.Path, os.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if c, err := uverbs.ImportContext(int(f.Fd())); !errors.Is(err, unix.EINVAL) {
		t.Errorf("device without context: %v, %v", c, err)
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if _, err := uverbs.ImportContext(int(null.Fd())); !errors.Is(err, uverbs.ErrNoDevice) {
		t.Errorf("another device: %v", err)
	}
}
