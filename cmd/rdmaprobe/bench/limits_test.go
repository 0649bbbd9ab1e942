package bench

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs"
)

// wish is a request for one queue pair.
func wish(token uint64) request {
	return request{Test: Bandwidth, Op: Write, Mode: Event, Size: 4096, RecvDepth: 4, QPs: 1, Token: token}
}

// TestLedger: each limit is told by its name, and what is given back may be taken again.
func TestLedger(t *testing.T) {
	peer := func(i int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 1, byte(i)}) }
	for _, tt := range []struct {
		name   string
		memory int64
		peer   func(i int) netip.Addr
		most   int
		want   string
	}{
		{"memory of a test", MaxTestMemory + 1, peer, 0, "the test needs 257 MiB here, allowed are 256"},
		{"tests of a peer", 1, func(int) netip.Addr { return peer(1) }, MaxPeerTests, "8 tests of 10.0.1.1 run here, no more are allowed"},
		{"memory of a peer", MaxTestMemory, func(int) netip.Addr { return peer(1) }, MaxPeerMemory / MaxTestMemory,
			"the tests of 10.0.1.1 would need 768 MiB here, allowed are 512"},
		{"tests", 1, peer, MaxTests, "64 tests run here, no more are allowed"},
		{"memory", MaxTestMemory, peer, MaxMemory / MaxTestMemory, "all tests would need 2304 MiB here, allowed are 2048"},
	} {
		var l ledger
		for range 2 {
			for i := range tt.most {
				if err := l.take(tt.peer(i), tt.memory); err != nil {
					t.Fatalf("%s: %d: %v", tt.name, i, err)
				}
			}
			if err := l.take(tt.peer(tt.most), tt.memory); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", tt.name, err)
			}
			for i := range tt.most {
				l.give(tt.peer(i), tt.memory)
			}
			if l.all != (share{}) || len(l.peers) != 0 {
				t.Errorf("%s: left: %+v", tt.name, l)
			}
		}
	}
}

// TestRequestMemory: what a request counts for is no less than what it maps.
func TestRequestMemory(t *testing.T) {
	useFake(t)
	for _, r := range []request{
		wish(1),
		{Test: Latency, Op: Send, Mode: Poll, Size: 1, RecvDepth: 16, QPs: 1},
		{Test: Bandwidth, Op: Send, Mode: Event, Size: 100_000, RecvDepth: MaxDepth, QPs: 4},
		{Test: Bandwidth, Op: Write, Mode: Event, Size: 64, RecvDepth: 512, QPs: 16, Depth: 2048, Batch: 1, CQMod: 1, Limit: 1},
	} {
		before := offheap.Mapped()
		s, err := newSide(fakeDevice(), r, r.serverDepth(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if mapped := int64(offheap.Mapped() - before); mapped > r.memory()+pages {
			t.Errorf("%+v: maps %d bytes, counts for %d", r, mapped, r.memory())
		}
		s.release()
	}
}

// pages is what rounding to whole pages may add.
const pages = 4 * 64 << 10

// TestServerLimits: requests beyond the limits are refused with the limit's name, whatever
// their tokens, and make nothing; when clients leave, others are taken.
func TestServerLimits(t *testing.T) {
	useFake(t)
	srv, refused := startFake()
	defer srv.close()
	var ids []*fakeID
	for i := range MaxPeerTests {
		id := newFakeID("10.0.0.2:4000")
		ids = append(ids, id)
		srv.take(t.Context(), id, ask(wish(uint64(i))))
	}
	waitFor(t, "all to begin", func() bool {
		for i := range ids {
			if !srv.began(uint64(i)) {
				return false
			}
		}
		return true
	})
	_, memory := srv.taken()
	for i := range 100 {
		id := newFakeID("10.0.0.2:4000")
		srv.take(t.Context(), id, ask(wish(uint64(1000+i))))
		waitFor(t, "the reject", func() bool { return int(refused.Load()) == i+1 })
		if accepted, why, closed := id.answer(); accepted || !closed || !strings.Contains(why, "8 tests of 10.0.0.2 run here") {
			t.Fatalf("request %d: accepted %v, closed %v, %q", i, accepted, closed, why)
		}
	}
	if n, m := srv.taken(); n != MaxPeerTests || m != memory {
		t.Errorf("%d tests, %d bytes; %d before", n, m, memory)
	}
	other := newFakeID("10.0.0.3:4000")
	srv.take(t.Context(), other, ask(wish(1)))
	waitFor(t, "another peer, with the same token", func() bool { accepted, _, _ := other.answer(); return accepted })
	for _, id := range append(ids, other) {
		id.hangUp()
	}
	waitFor(t, "all to leave", func() bool { n, m := srv.taken(); return n == 0 && m == 0 })
}

// TestMemoryRefused: a request for too much memory maps nothing.
func TestMemoryRefused(t *testing.T) {
	k := useFake(t)
	srv, refused := startFake()
	defer srv.close()
	r := wish(1)
	r.Size, r.QPs = MaxSize, MaxQPs // 8 GiB
	id := newFakeID("10.0.0.2:4000")
	srv.take(t.Context(), id, ask(r))
	waitFor(t, "the reject", func() bool { return refused.Load() == 1 })
	if _, why, _ := id.answer(); !strings.Contains(why, "needs 8193 MiB here, allowed are 256") {
		t.Errorf("reject %q", why)
	}
	if calls := k.Calls(); len(calls) != 0 {
		t.Errorf("the kernel was called: %v", calls)
	}
}

// TestOthersWhileMapping: a server that maps the memory of one client takes others, refuses
// more queue pairs of the one until its first is accepted, and ends.
func TestOthersWhileMapping(t *testing.T) {
	useFake(t)
	srv, refused := startFake()
	slow, mapping := make(chan struct{}), make(chan struct{})
	open := openDevice
	openDevice = func(d *uverbs.Device) (*uverbs.Context, error) {
		if d.Name == "slow0" {
			close(mapping)
			<-slow
		}
		return open(d)
	}
	one := newFakeID("10.0.0.2:4000")
	one.device.Name = "slow0"
	r := wish(1)
	r.QPs = 2
	srv.take(t.Context(), one, ask(r))
	<-mapping
	other := newFakeID("10.0.0.3:4000")
	srv.take(t.Context(), other, ask(wish(2)))
	waitFor(t, "the other to be accepted", func() bool { accepted, _, _ := other.answer(); return accepted })
	early := newFakeID("10.0.0.2:4001")
	r.Index = 1
	srv.take(t.Context(), early, ask(r))
	waitFor(t, "the early one to be refused", func() bool { return refused.Load() == 1 })
	if _, why, _ := early.answer(); !strings.Contains(why, "queue pair 1 before the first was answered") {
		t.Errorf("reject %q", why)
	}
	done := make(chan struct{})
	go func() { srv.close(); close(done) }()
	close(slow)
	<-done
	if n, m := srv.taken(); n != 0 || m != 0 {
		t.Errorf("left: %d tests, %d bytes", n, m)
	}
}

// TestStrangerJoins: a token is of no use at another address.
func TestStrangerJoins(t *testing.T) {
	useFake(t)
	srv, _ := startFake()
	defer srv.close()
	r := wish(9)
	r.QPs = 2
	srv.take(t.Context(), newFakeID("10.0.0.2:4000"), ask(r))
	waitFor(t, "the first queue pair", func() bool { n, _ := srv.taken(); return n == 1 })
	r.Index = 1
	srv.take(t.Context(), newFakeID("10.0.0.66:4000"), ask(r))
	waitFor(t, "a test of its own", func() bool { n, _ := srv.taken(); return n == 2 })
	if srv.began(9) {
		t.Error("a stranger's queue pair began the test")
	}
}

func ExampleParams_Memory() {
	p := Params{Test: Bandwidth, Op: Write, Mode: Poll, Size: 1 << 20, QPs: 4, Depth: 128, Batch: 1, CQMod: 1}
	fmt.Println(p.Memory()>>20, "MiB")
	// Output: 9 MiB
}
