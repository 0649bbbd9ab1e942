package bench

import (
	"net/netip"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// FuzzServer has clients of a few addresses ask for queue pairs in any order, with any
// private data, complete what they were accepted for with any length, and leave. The server
// does not crash, stays within its limits, and has nothing left when it ends. Each step of
// the script is a byte that says what to do, and the bytes that it takes.
func FuzzServer(f *testing.F) {
	two := wish(1)
	two.QPs = 2
	second := two
	second.Index = 1
	both := request{Test: Bandwidth, Op: Send, Mode: Event, Size: 64, RecvDepth: 4, QPs: 1, Depth: 1, Batch: 1, CQMod: 1, Limit: 5}
	lat := request{Test: Latency, Op: Write, Mode: Event, Size: 8, RecvDepth: 4, QPs: 1}
	f.Add(script(two, second, second))
	f.Add(append(script(both, lat, wish(3)), 200, 0, 1, 255, 201, 0, 202, 1))
	f.Add(append(script(second), 0, 1, 2, 3))
	f.Fuzz(func(t *testing.T, b []byte) {
		k, saved := fakeverbs.New(), openDevice
		openDevice = func(d *uverbs.Device) (*uverbs.Context, error) { return uverbs.OpenOn(k, d, nil) }
		defer func() { openDevice = saved }()
		c := &fuzzClients{t: t, srv: newServer()}
		for steps := 0; len(b) > 0 && steps < 24; steps++ {
			b = c.step(b)
		}
		for _, id := range c.ids {
			id.hangUp()
		}
		c.srv.close()
		if tests, memory := c.srv.taken(); tests != 0 || memory != 0 {
			t.Errorf("%d tests and %d bytes are left", tests, memory)
		}
		if left := k.Survivors(); len(left) != 0 {
			t.Errorf("left in the kernel: %v", left)
		}
		for _, id := range c.ids {
			if _, _, closed := id.answer(); !closed {
				t.Errorf("a request of %v is open", id.peer)
			}
		}
	})
}

// script is requests of one client, one after the other.
func script(list ...request) (b []byte) {
	for _, r := range list {
		b = append(append(b, 0), r.marshal()...)
	}
	return b
}

// fuzzClients are what a script does to a server.
type fuzzClients struct {
	t   *testing.T
	srv *Server
	ids []*fakeID
}

// step does the first thing of a script and returns the rest.
func (c *fuzzClients) step(b []byte) []byte {
	do, b := b[0], b[1:]
	switch {
	case do < 200: // a request of one of four addresses
		n := min(len(b), requestSize)
		id := newFakeID(netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, do % 4}), uint16(1000+len(c.ids))).String())
		c.ids = append(c.ids, id)
		c.srv.take(c.t.Context(), id, ucma.ConnParam{PrivateData: b[:n:n], InitiatorDepth: do, ResponderResources: do})
		b = b[n:]
	case do < 220 && len(c.ids) > 0: // one leaves
		c.ids[int(do)%len(c.ids)].hangUp()
	case len(b) >= 2: // something arrives that the peer's device has put there
		c.arrive(abi.IB_WC_RECV+abi.IBWCOpcode(do&1), uint32(b[0])<<(b[1]&31))
		b = b[2:]
	}
	tests, memory := c.srv.taken()
	if tests > MaxTests || memory > MaxMemory {
		c.t.Errorf("%d tests, %d bytes", tests, memory)
	}
	return b
}

// arrive completes a receive of each test that has all of its queue pairs.
func (c *fuzzClients) arrive(op abi.IBWCOpcode, length uint32) {
	c.srv.mu.Lock()
	defer c.srv.mu.Unlock()
	for _, t := range c.srv.tests {
		if t.side == nil {
			continue
		}
		select {
		case <-t.side.ready:
		default:
			continue
		}
		// A side of its own: the loop of the test has this one.
		s := &side{req: t.side.req, mr: t.side.mr, conns: t.side.conns}
		_ = s.arrived(&uverbs.WC{Opcode: op, ByteLen: length})
	}
}
