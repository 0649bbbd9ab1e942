package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

const (
	// askEvery is how often a server that only waits asks whether its client's device is
	// there. A write or read of the client shows nowhere on this side.
	askEvery = 15 * time.Second
	// askLimit is how long the answer may take; a device that repeats the question gives
	// up sooner.
	askLimit = 30 * time.Second
)

// askID marks the work request of a question.
const askID = 1 << 63

// guard waits until the side is stopped, or until a peer answers no more: without it the
// queue pairs and memory of a client that died without a word would stay.
func (s *side) guard(every, limit time.Duration) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.done:
			return errStopped
		case <-tick.C:
		}
		if err := s.ask(limit); err != nil {
			return err
		}
		s.beats.Add(1)
	}
}

// ask asks the device at the other end of each queue pair.
func (s *side) ask(limit time.Duration) error {
	for _, c := range s.conns {
		if err := c.qp.PostSend(c.question()); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(s.wait.ctx, limit)
	defer cancel()
	wcs := make([]uverbs.WC, 32)
	for answers := 0; answers < len(s.conns); {
		n, err := s.sendCQ.Wait(ctx, wcs)
		switch {
		case s.stopped.Load():
			return errStopped
		case err != nil && ctx.Err() != nil:
			return fmt.Errorf("%w: no answer within %v", cm.ErrPeerDead, limit)
		case err != nil:
			return err
		}
		if err := failed(wcs[:n]); err != nil {
			return fmt.Errorf("%w: %w", cm.ErrPeerDead, err)
		}
		for i := range wcs[:n] {
			if wcs[i].ID == askID {
				answers++
			}
		}
	}
	return nil
}

// question is a write of no bytes, which needs no memory at the other end; over iWARP, whose
// writes have no answer, a read of no bytes (see cm.KeepAlive).
func (c *conn) question() uverbs.SendWR {
	wr := uverbs.SendWR{ID: askID, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled}
	if c.device.Protocol == uverbs.ProtocolIWARP {
		wr.Opcode, wr.RKey = abi.IB_UVERBS_WR_RDMA_READ, 1
	}
	return wr
}
