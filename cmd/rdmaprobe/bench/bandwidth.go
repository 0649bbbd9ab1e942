package bench

import (
	"fmt"
	"math"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A flow is the sending end of one queue pair.
type flow struct {
	*conn
	wrs     []uverbs.SendWR // a batch, made once
	posted  uint64
	limit   uint64 // of posted
	flying  int    // posted, and not known to be complete
	pending int    // posted since the last one with a completion
}

func (c *conn) flow(batch int) *flow {
	f := &flow{conn: c, wrs: make([]uverbs.SendWR, batch)}
	for i := range f.wrs {
		wr := &f.wrs[i]
		wr.ID, wr.SGEs = uint64(c.index), []uverbs.SGE{c.out()}
		switch c.req.Op {
		case Send:
			wr.Opcode = abi.IB_UVERBS_WR_SEND
		case Write:
			wr.Opcode = abi.IB_UVERBS_WR_RDMA_WRITE
		case Read:
			wr.Opcode = abi.IB_UVERBS_WR_RDMA_READ
		}
		if c.req.Op != Send {
			wr.RemoteAddr, wr.RKey = c.remote.Addr, c.remote.RKey
		}
		if int(c.req.Size) <= c.inline && c.req.Op != Read {
			off := c.sendArea()
			wr.SGEs, wr.Inline = nil, c.mr.Bytes()[off:off+int(c.req.Size)]
		}
	}
	return f
}

// post posts as many requests with one doorbell as a batch and the limit have.
// Every modth has a completion, and the last one of all. How many messages a
// completion stands for is in its ID.
func (f *flow) post(mod int) error {
	n := int(min(uint64(len(f.wrs)), f.limit-f.posted))
	for i := range n {
		wr := &f.wrs[i]
		wr.Flags = 0
		f.pending++
		f.posted++
		if f.pending == mod || f.posted == f.limit {
			wr.Flags = uverbs.SendSignaled
			wr.ID = uint64(f.index)<<32 | uint64(f.pending)
			f.pending = 0
		}
	}
	f.flying += n
	return f.qp.PostSend(f.wrs[:n]...)
}

// finish lets a flow end: if its last requests have no completion, one more
// follows that has.
func (f *flow) finish() {
	f.limit = f.posted
	if f.pending > 0 {
		f.limit++
	}
}

// blast keeps all queue pairs full.
func (s *side) blast(p *Params, m *meter) error {
	flows := s.flows(p)
	// More would let a queue fill up with requests that never complete.
	mod := max(1, min(p.CQMod, p.Depth-p.Batch+1))
	wcs := make([]uverbs.WC, 32)
	m.begin()
	for timed := p.Messages == 0; ; {
		flying := 0
		for _, f := range flows {
			for f.posted < f.limit && f.flying+p.Batch <= p.Depth {
				if err := f.post(mod); err != nil {
					return err
				}
			}
			flying += f.flying
		}
		if flying == 0 {
			m.end()
			return nil
		}
		if err := s.complete(flows, wcs, m); err != nil {
			return err
		}
		if timed && !m.more() {
			timed = false
			for _, f := range flows {
				f.finish()
			}
		}
	}
}

// flows makes a flow of each queue pair, and shares the messages out.
func (s *side) flows(p *Params) []*flow {
	flows := make([]*flow, len(s.conns))
	n := uint64(len(flows))
	for i, c := range s.conns {
		flows[i] = c.flow(p.Batch)
		flows[i].limit = math.MaxUint64
		if p.Messages > 0 {
			flows[i].limit = p.Messages / n
			if uint64(i) < p.Messages%n {
				flows[i].limit++
			}
		}
	}
	return flows
}

// complete waits for completions and counts their messages.
func (s *side) complete(flows []*flow, wcs []uverbs.WC, m *meter) error {
	n, err := s.wait.take(s.sendCQ, wcs)
	if err != nil {
		return err
	}
	s.beats.Add(1)
	for i := range n {
		if wcs[i].Opcode&abi.IB_WC_RECV != 0 { // both directions
			if err := s.arrived(&wcs[i]); err != nil {
				return err
			}
			continue
		}
		count := int(uint32(wcs[i].ID))
		flows[wcs[i].ID>>32].flying -= count
		m.moved(uint64(count))
	}
	return nil
}

// arrived takes a message: data, or the peer's report. What the completion says comes
// from the peer: its length is that of a receive for a send, but for a write with
// immediate data, which takes a receive too, whatever the peer wrote.
func (s *side) arrived(wc *uverbs.WC) error {
	c, size := s.conns[wc.ID], int(s.req.Size)
	switch n := int(wc.ByteLen); {
	case wc.Opcode != abi.IB_WC_RECV:
		return fmt.Errorf("%w: the peer wrote %d bytes with immediate data", ErrProtocol, n)
	case s.req.Op == Send && n == size:
		return c.receive()
	case s.req.both() && n == reportSize(size):
		return s.takeReport(c)
	default:
		return fmt.Errorf("%w: a message of %d bytes, agreed on are %d", ErrProtocol, n, size)
	}
}

// takeReport reads the peer's report, the last message on its queue pair. The peer may be
// able to write there still: what is checked is a copy.
func (s *side) takeReport(c *conn) error {
	var b [maxReport]byte
	n := copy(b[:], c.mr.Bytes()[c.recvArea():][:reportSize(int(s.req.Size))])
	s.reported = true
	return s.reverse.take(b[:n])
}

// report tells the client what the server has measured, after its last message.
func (s *side) report(m *meter) error {
	c := s.conns[0]
	size := reportSize(int(s.req.Size))
	Report{Messages: m.messages, Took: m.took}.put(c.mr.Bytes()[c.sendArea():][:size])
	return c.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{c.mr.SGE(c.sendArea(), size)}})
}

// awaitReport takes what still arrives, up to the server's report.
func (s *side) awaitReport() (Report, error) {
	wcs := make([]uverbs.WC, 32)
	for !s.reported {
		if err := s.takeArrived(wcs); err != nil {
			return Report{}, err
		}
	}
	return s.reverse, nil
}

// takeArrived waits for messages.
func (s *side) takeArrived(wcs []uverbs.WC) error {
	n, err := s.wait.take(s.recvCQ, wcs)
	if err != nil {
		return err
	}
	s.beats.Add(1)
	for i := range n {
		if wcs[i].Opcode&abi.IB_WC_RECV == 0 {
			continue // the report's own
		}
		if err := s.arrived(&wcs[i]); err != nil {
			return err
		}
	}
	return nil
}

// absorb takes what the peer sends, until the side is stopped.
func (s *side) absorb() error {
	if s.req.Op != Send {
		return s.guard(askEvery, askLimit) // nothing arrives
	}
	wcs := make([]uverbs.WC, 32)
	for {
		if err := s.takeArrived(wcs); err != nil {
			return err
		}
	}
}

// exchange is the server's part of both directions: it sends as the client
// does, tells the result, and takes what arrives until the side is stopped.
func (s *side) exchange() error {
	p := s.req.params()
	m := newMeter(&p)
	if err := s.blast(&p, m); err != nil {
		return err
	}
	if err := s.report(m); err != nil {
		return err
	}
	return s.absorb()
}

// conn returns a queue pair that is there, or nil.
func (s *side) conn(index int) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conns[index]
}
