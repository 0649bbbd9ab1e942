package cm

import (
	"net"
	"sync"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// TestRegionAfterConnClose: the device and the peer have a region no longer than
// its connection lives; the program has it until it closes it.
func TestRegionAfterConnClose(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	r.pair(l, &Dialer{Config: quick}) // the device stays open
	client, server := r.pair(l, &Dialer{Config: quick})
	before := ReadMemoryUse()
	mem, err := server.Alloc(5000, RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	if a := r.verbs.AccessOf(mem.reg.mr.Handle()); a != abi.IB_UVERBS_ACCESS_LOCAL_WRITE|abi.IB_UVERBS_ACCESS_REMOTE_READ {
		t.Errorf("the region has access %#x", uint32(a))
	}
	if now := ReadMemoryUse(); now.Pinned != before.Pinned+5000 {
		t.Errorf("%d bytes pinned, %d before", now.Pinned, before.Pinned)
	}
	copy(mem.Bytes(), "still here")
	slice, bytes := mem.Slice(0, 10), mem.Slice(0, 10).Bytes()
	for _, c := range []*Conn{server, client} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantBytes(t, "bytes from before", bytes, "still here")
	wantBytes(t, "bytes from after", slice.Bytes(), "still here")
	if n := r.count("mr"); n != 2 { // of the pair that lives
		t.Errorf("%d memory regions in the kernel, want 2", n)
	}
	if left := ReadMemoryUse().Left - before.Left; left != 5000 {
		t.Errorf("%d bytes left behind", left)
	}
	wants(t, server.Send(testContext(t), mem.All()), net.ErrClosed)
	for range 2 {
		if err := mem.Close(); err != nil {
			t.Error(err)
		}
		if mem.Bytes() != nil || slice.Bytes() != nil || mem.Len() != 5000 || slice.Len() != 10 {
			t.Error("a closed region has bytes, or another length")
		}
	}
	if left := ReadMemoryUse().Left - before.Left; left != 0 {
		t.Errorf("%d bytes left behind after Close", left)
	}
}

// TestRegionAfterRemoval: the same when the device is removed.
func TestRegionAfterRemoval(t *testing.T) {
	r := newRig(t)
	_, server := r.pair(r.listen(nil), new(Dialer))
	mem := alloc(t, server, 64, RemoteWrite)
	copy(mem.Bytes(), "kept")
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	r.verbs.Remove()
	waitEnd(t, server)
	if err := server.Close(); err != nil {
		t.Error(err)
	}
	wantBytes(t, "after the removal", mem.Slice(0, 4).Bytes(), "kept")
	_, err := server.Alloc(64, 0)
	wants(t, err, ErrDeviceRemoved)
}

// TestForeignMemory: a region of another connection is refused before the device
// does it, which would end the connection; so is one of a PD that the connection
// does not use.
func TestForeignMemory(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	pd := r.openPD()
	a, b := r.pair(l, &Dialer{Config: quick})
	c, _ := r.pair(l, &Dialer{Config: quick})
	shared, _ := r.pair(l, &Dialer{Config: &Config{PD: pd, CloseTimeout: quick.CloseTimeout}})
	ctx := testContext(t)
	for name, mem := range map[string]*Region{
		"another connection's": alloc(t, c, 8, 0), "a PD's": alloc(t, pd, 8, 0), "a PD's connection's": alloc(t, shared, 8, 0),
	} {
		err := a.Send(ctx, mem.All())
		wants(t, err, syscall.EINVAL)
		wantsText(t, err, "belongs to another connection or PD", "Config.PD")
		if a.Err() != nil || b.Err() != nil {
			t.Fatalf("%s region ended the connection", name)
		}
	}
}

// TestRegionCloseBesideConnClose: whoever comes first, the region goes once.
func TestRegionCloseBesideConnClose(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	for range 20 {
		client, _ := r.pair(l, &Dialer{Config: &Config{CloseTimeout: -1}})
		mem, err := client.Alloc(64, 0)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for _, c := range []interface{ Close() error }{mem, client, mem} {
			wg.Go(func() {
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}

// TestRegionCloseFails: a region that the kernel does not give up stays mapped,
// and can be closed again.
func TestRegionCloseFails(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	mem := alloc(t, client, 64, 0)
	pinned := ReadMemoryUse().Pinned
	r.verbs.FailCall(len(r.verbs.Calls()), syscall.EBUSY)
	wants(t, mem.Close(), syscall.EBUSY)
	wants(t, client.Send(testContext(t), mem.All()), net.ErrClosed)
	if now := ReadMemoryUse().Pinned; now != pinned {
		t.Errorf("%d bytes pinned, %d before the close that failed", now, pinned)
	}
	if err := mem.Close(); err != nil {
		t.Error(err)
	}
}

// TestBuffersAreOneRegistration: a connection pins what Config says, and SendCopy
// as much again when it is used first.
func TestBuffersAreOneRegistration(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	if use := ReadMemoryUse(); use.Pinned != 2*16*4096 || r.count("mr") != 2 {
		t.Errorf("%d bytes in %d regions for two ends", use.Pinned, r.count("mr"))
	}
	// No peer reaches message buffers, whatever it guesses.
	if a := r.verbs.AccessOf(client.buffers.recv.mr.Handle()); a != abi.IB_UVERBS_ACCESS_LOCAL_WRITE {
		t.Errorf("receive buffers have access %#x", uint32(a))
	}
	ctx := testContext(t)
	for range 3 {
		if err := client.SendCopy(ctx, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if use := ReadMemoryUse(); use.Pinned != 3*16*4096 || r.count("mr") != 3 {
		t.Errorf("%d bytes in %d regions when one end copies", use.Pinned, r.count("mr"))
	}
	if a := r.verbs.AccessOf(client.buffers.send.mr.Handle()); a != abi.IB_UVERBS_ACCESS_LOCAL_WRITE {
		t.Errorf("send buffers have access %#x", uint32(a))
	}
}

// TestBuffersAreNotInherited: what a connection received, and sent, is not to be
// found in the buffers of those that come after it.
func TestBuffersAreNotInherited(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	r.pair(l, &Dialer{Config: quick}) // the device stays open
	ctx := testContext(t)
	for range 3 {
		client, server := r.pair(l, &Dialer{Config: quick})
		for _, c := range []*Conn{client, server} {
			for _, b := range c.buffers.mem.Bytes() {
				if b != 0 {
					t.Fatal("the buffers of a new connection are not empty")
				}
			}
		}
		for range 16 {
			if err := client.SendCopy(ctx, []byte("a secret of more than 64 bytes, so that SendCopy does not put it into the request")); err != nil {
				t.Fatal(err)
			}
			if _, err := server.RecvCopy(ctx, make([]byte, 100)); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []*Conn{client, server} {
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestRegionCloseTwiceInUse: two that close a region while the device has it are
// both refused, and it works on.
func TestRegionCloseTwiceInUse(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	mem := alloc(t, client, 64, 0)
	ctx := testContext(t)
	for range 50 {
		r.verbs.HoldSends(client.QP().Number())
		sent := async(func() (int, error) { return 0, client.Send(ctx, mem.All()) })
		waitFor(t, func() bool { return mem.use.posted.Load() > 0 })
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { wants(t, mem.Close(), syscall.EBUSY) })
		}
		wg.Wait()
		r.verbs.ReleaseSends()
		if _, err := get(t, sent); err != nil {
			t.Fatal(err)
		}
		if _, err := server.RecvCopy(ctx, make([]byte, 64)); err != nil {
			t.Fatal(err)
		}
	}
}
