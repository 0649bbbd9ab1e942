package bench

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// ping measures one message at a time. Sends and writes are answered with a
// message of the same kind, as ib_send_lat and ib_write_lat do, and half of the
// round trip counts; a read is a round trip of its own, and counts whole.
func (c *conn) ping(p *Params, m *meter) error {
	post := c.poster()
	var serial byte
	turn := func() error {
		serial++
		if c.req.Op == Write {
			c.mark(serial)
		}
		if err := post(true); err != nil {
			return err
		}
		return c.answered(serial)
	}
	for range p.Warmup {
		if err := turn(); err != nil {
			return err
		}
	}
	half := int64(2)
	if c.req.Op == Read {
		half = 1
	}
	m.begin()
	last := time.Now()
	for m.more() {
		if err := turn(); err != nil {
			return err
		}
		now := time.Now()
		m.latency(int64(now.Sub(last))/half, now)
		// What the meter did is not the next message's.
		last = time.Now()
	}
	m.end()
	return nil
}

// answered waits until a message has been answered and its own request is
// complete.
func (c *conn) answered(serial byte) error {
	var wcs [1]uverbs.WC
	switch c.req.Op {
	case Send:
		if err := c.takeReceive(&wcs); err != nil {
			return err
		}
	case Write:
		if done, err := c.awaitByte(serial, &wcs); done || err != nil {
			return err
		}
	}
	_, err := c.wait.take(c.sendCQ, wcs[:])
	if err == nil {
		c.beats.Add(1)
	}
	return err
}

// takeReceive takes a message and posts its receive again.
func (c *conn) takeReceive(wcs *[1]uverbs.WC) error {
	if _, err := c.wait.take(c.recvCQ, wcs[:]); err != nil {
		return err
	}
	c.beats.Add(1)
	return c.receive()
}

// pong answers until the side is stopped.
func (c *conn) pong() error {
	if c.req.Op == Read {
		return c.guard(askEvery, askLimit)
	}
	post := c.poster()
	var wcs [1]uverbs.WC
	for serial := byte(1); ; serial++ {
		if c.req.Op == Send {
			if err := c.takeReceive(&wcs); err != nil {
				return err
			}
		} else {
			if _, err := c.awaitByte(serial, &wcs); err != nil {
				return err
			}
			c.mark(serial)
		}
		if err := post(true); err != nil {
			return err
		}
		if _, err := c.wait.take(c.sendCQ, wcs[:]); err != nil {
			return err
		}
	}
}

// poster makes the function that posts one message, and says whether it is to
// have a completion. The request is made once: the loop only posts it.
func (c *conn) poster() func(signaled bool) error {
	wr := [1]uverbs.SendWR{{ID: uint64(c.index)}}
	sges := []uverbs.SGE{c.out()}
	wr[0].SGEs = sges
	switch c.req.Op {
	case Send:
		wr[0].Opcode = abi.IB_UVERBS_WR_SEND
	case Write:
		wr[0].Opcode = abi.IB_UVERBS_WR_RDMA_WRITE
	case Read:
		wr[0].Opcode = abi.IB_UVERBS_WR_RDMA_READ
	}
	if c.req.Op != Send {
		wr[0].RemoteAddr, wr[0].RKey = c.remote.Addr, c.remote.RKey
	}
	if int(c.req.Size) <= c.inline && c.req.Op != Read {
		off := c.sendArea()
		wr[0].SGEs, wr[0].Inline = nil, c.mr.Bytes()[off:off+int(c.req.Size)]
	}
	return func(signaled bool) error {
		wr[0].Flags = 0
		if signaled {
			wr[0].Flags = uverbs.SendSignaled
		}
		return c.qp.PostSend(wr[:]...)
	}
}

// mark puts a number into the last byte of what is sent.
func (c *conn) mark(serial byte) {
	c.mr.Bytes()[c.sendArea()+int(c.req.Size)-1] = serial
}

// awaitByte waits until the peer's write has put a number into the last byte of
// the receive area. No completion tells of a write: looking is the only way, in
// each mode. done says that the own request has completed meanwhile, which is how a peer that
// died shows: its device answers no more, and nothing is ever put there.
func (c *conn) awaitByte(serial byte, wcs *[1]uverbs.WC) (done bool, err error) {
	at := c.recvArea() + int(c.req.Size) - 1
	b := c.mr.Bytes()
	// A device writes here: the word that holds the byte is read as one that
	// somebody else changes.
	word := (*uint32)(unsafe.Pointer(&b[at&^3]))
	for {
		for range looks {
			atomic.LoadUint32(word)
			if b[at] == serial {
				c.beats.Add(1)
				return done, nil
			}
		}
		if c.stopped.Load() {
			return done, errStopped
		}
		if !done {
			n, err := c.sendCQ.Poll(wcs[:])
			if done = n > 0; done && err == nil {
				err = failed(wcs[:n])
			}
			if err != nil {
				return done, err
			}
		}
		c.wait.slice.Breathe()
	}
}
