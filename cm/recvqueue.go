package cm

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A recvQueue keeps the receive buffers: each is posted, or holds a message
// that waits for Recv, or is lent to the application.
type recvQueue struct {
	depth int
	size  int
	mr    *uverbs.MR    // of the buffers
	base  uint64        // of the work request IDs
	ready chan received // messages in order of arrival; has room for all

	first     chan struct{} // closed with the first completion
	firstOnce sync.Once

	// turn admits one receiver at a time, so that a message that RecvCopy
	// gives back goes to the next one, also if that waits already. It holds
	// a token while nobody receives.
	turn      chan struct{}
	unread    received // given back by RecvCopy; guarded by turn
	hasUnread bool
}

// received is a message as the completion describes it.
type received struct {
	slot uint32
	wc   uverbs.WC
}

func (q *recvQueue) init(key uint64, depth, size int, mr *uverbs.MR) {
	q.depth, q.size, q.mr = depth, size, mr
	q.base = recvBit | key<<keyShift
	q.ready, q.first = make(chan received, depth), make(chan struct{})
	q.turn = make(chan struct{}, 1)
	q.turn <- struct{}{}
}

// takeTurn makes the caller the one receiver.
func (q *recvQueue) takeTurn(ctx context.Context) error {
	select {
	case <-q.turn:
		return nil
	default:
	}
	select {
	case <-q.turn: // the end of the connection ends the turns before
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (q *recvQueue) endTurn() { q.turn <- struct{}{} }

// complete queues a message. Slot numbers come back through memory shared with
// the kernel, so they are checked.
func (q *recvQueue) complete(wc *uverbs.WC) {
	slot := wc.ID & operation
	if slot >= uint64(q.depth) || wc.Status != abi.IB_WC_SUCCESS {
		return
	}
	select {
	case q.ready <- received{slot: uint32(slot), wc: *wc}:
	default:
	}
	q.firstOnce.Do(func() { close(q.first) })
}

// post gives a buffer to the device.
func (c *Conn) postRecv(slot uint32) error {
	return c.qp.PostRecv(uverbs.RecvWR{
		ID:   c.recvs.base | uint64(slot),
		SGEs: []uverbs.SGE{c.recvs.mr.SGE(int(slot)*c.recvs.size, c.recvs.size)},
	})
}

// postAllRecvs posts every buffer with one call.
func (c *Conn) postAllRecvs() error {
	wrs := make([]uverbs.RecvWR, c.recvs.depth)
	for i := range wrs {
		wrs[i] = uverbs.RecvWR{
			ID:   c.recvs.base | uint64(i),
			SGEs: []uverbs.SGE{c.recvs.mr.SGE(i*c.recvs.size, c.recvs.size)},
		}
	}
	return c.qp.PostRecv(wrs...)
}

// A Message is what a send, or a write with immediate data, of the peer
// brought.
type Message struct {
	// Data is the received bytes; it is valid until Release, also when the
	// connection is closed before. A write with immediate leaves it empty: its
	// bytes are where the peer wrote them.
	Data []byte

	// Imm is the immediate value, in host order, when HasImm.
	Imm    uint32
	HasImm bool

	// Written is how many bytes a write with immediate brought.
	Written int

	conn     *Conn
	slot     uint32
	released atomic.Bool
}

// Release gives the buffer back for the next message. Until then it is one of
// Config.RecvDepth that the peer cannot use, and after the end of the connection
// it keeps all of its buffers mapped. It may be called more than once.
func (m *Message) Release() error {
	if m.released.Swap(true) {
		return nil
	}
	m.Data = nil
	c := m.conn
	var err error
	if c.Err() == nil { // else there is nothing to give back to
		err = c.postRecv(m.slot)
	}
	if isErrno(err, syscall.ENOTCONN) || errors.Is(err, ErrDeviceRemoved) {
		c.suspect(signFlush, err) // it ends, and there is nothing to give back to
		err = nil
	}
	if backErr := c.takeBack(); err == nil {
		err = backErr
	}
	if c.Err() != nil {
		return nil // it ended meanwhile
	}
	return c.opErrorOrNil("receive", err)
}

// message lends what a completion describes to the application. It fails when
// the connection was closed.
func (c *Conn) message(r received) (*Message, error) {
	if err := c.lend(); err != nil {
		return nil, err
	}
	m := &Message{conn: c, slot: r.slot}
	if r.wc.Flags&abi.IB_WC_WITH_IMM != 0 {
		m.Imm, m.HasImm = r.wc.Imm, true
	}
	if r.wc.Opcode == abi.IB_WC_RECV_RDMA_WITH_IMM {
		m.Written = int(r.wc.ByteLen)
		return m, nil
	}
	n := min(int(r.wc.ByteLen), c.recvs.size)
	off := int(r.slot) * c.recvs.size
	m.Data = c.recvs.mr.Bytes()[off : off+n : off+n]
	return m, nil
}
