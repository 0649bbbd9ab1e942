package rxe

import (
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// maxMessage is the longest message. Later kernels take 2 GiB
// (RXE_PORT_MAX_MSG_SZ), but rxe_requester of 5.10 has the rest of a message
// in an int, which 2 GiB makes negative.
const maxMessage = 1<<31 - 1

// maxDatagram is the largest path MTU. The port's may be smaller; rxe_requester
// drops what exceeds that and reports success.
const maxDatagram = 4096

// sendQueue is the send side of a queue pair.
type sendQueue struct {
	ring   ring
	prod   uint32 // next slot to write, always masked
	rung   uint32 // producer index that the kernel was last told of
	work   uint64 // what was written since then, in the measure of short
	short  uint64 // see shortWork
	ops    *opTable
	limits limits
	bell   *provider.QPBell
}

// limits are what one request may carry; setup has checked that it fits a slot.
type limits struct {
	sges    uint32
	inline  uint32
	message uint64 // bytes
}

// PostSend posts requests up to the first that is refused, and rings for those
// before it. The kernel does not look at them before the shared producer index moves
// past them.
//
// Sends, writes and reads with scatter/gather entries take the shortest way, which is
// here, without a call; postInline takes them with inline data, postOther the rest. What
// ends it early is elsewhere too, so that nothing need be kept for that.
func (q *sendQueue) PostSend(wrs provider.List[provider.SendWR]) (int, error) {
	if wrs.N == 0 {
		return q.stop(0, nil)
	}
	wr := wrs.First
	for left := wrs.N; ; {
		opcode, sges := wr.Opcode, wr.SGEs // once, so that what is checked is what is used
		op := q.ops.of(opcode)
		if op&(opList|opMore) != opList {
			if err := q.postOther(op, opcode, wr); err != nil {
				return q.stop(wrs.N-left, err)
			}
		} else if wr.Flags&^usual != 0 || len(wr.Inline) != 0 {
			if err := q.postInline(op, opcode, wr); err != nil {
				return q.stop(wrs.N-left, err)
			}
		} else {
			if uint64(len(sges)) > uint64(q.limits.sges) {
				return q.stop(wrs.N-left, provider.ErrTooManySGEs)
			}
			if q.ring.full(q.prod) {
				return q.stop(wrs.N-left, provider.ErrQueueFull)
			}
			slot, w := q.begin(opcode, wr)
			if op&opRDMA != 0 {
				encodeRDMA(w, wr)
			}
			length := putSGEs(slot, sendWQESize, sges)
			if length > q.limits.message {
				return q.stop(wrs.N-left, errMessageSize)
			}
			w.DMA.NumSGE = uint32(len(sges))
			q.end(w, length)
		}
		if left--; left == 0 {
			break
		}
		wr = provider.After(wr)
	}
	q.ring.prod.Store(q.prod)
	if n, err := q.ringer().Ring(q.bell.Command); n != len(q.bell.Command) || err != nil {
		return wrs.N, q.ringAgain(n, err)
	}
	q.rung, q.work = q.prod, 0
	return wrs.N, nil
}

// ringer is the way to ring for what was written.
func (q *sendQueue) ringer() devfile.Ringer {
	if q.work <= q.short {
		return q.bell.Short
	}
	return q.bell.Long
}

// stop ends a list of which n requests are written and the next is refused, if err is
// not nil. It rings for what is written, also before, when nothing was refused.
func (q *sendQueue) stop(n int, err error) (int, error) {
	if q.prod == q.rung || n == 0 && err != nil {
		return n, err
	}
	q.ring.prod.Store(q.prod)
	if rung := q.ringAgain(q.ringer().Ring(q.bell.Command)); rung != nil {
		err = rung
	}
	return n, err
}

// ringAgain looks after a doorbell that the device file took n bytes of. When the
// kernel refuses (EINVAL: the queue pair is not yet in RTS), the requests stay in the
// ring, and the next call asks again.
func (q *sendQueue) ringAgain(n int, err error) error {
	if n != len(q.bell.Command) || err != nil {
		err = q.bell.Again(n, err)
	}
	if err == nil {
		q.rung, q.work = q.prod, 0
	}
	return err
}

// usual are the flags of requests that go the shortest way.
const usual = provider.SendKnown &^ provider.SendInline

// postInline is for sends, writes and reads with inline data, and refuses flags that
// soft-RoCE does not know and would not look at.
func (q *sendQueue) postInline(op opFlags, opcode abi.IBUverbsWROpcode, wr *provider.SendWR) error {
	if wr.Flags&^provider.SendKnown != 0 {
		return provider.ErrSendFlags
	}
	if op&opInline == 0 || len(wr.SGEs) != 0 || uint64(len(wr.Inline)) > uint64(q.limits.inline) {
		return q.limits.checkInline(op, wr) // which says why
	}
	if q.ring.full(q.prod) {
		return provider.ErrQueueFull
	}
	slot, w := q.begin(opcode, wr)
	if op&opRDMA != 0 {
		encodeRDMA(w, wr)
	}
	q.end(w, encodeInline(&q.ring, slot, op, wr.Inline))
	return nil
}

// begin clears the next slot and writes what all requests have.
func (q *sendQueue) begin(opcode abi.IBUverbsWROpcode, wr *provider.SendWR) (unsafe.Pointer, *abi.RXESendWQE) {
	slot := q.ring.at(q.prod)
	w := clearSend(slot)
	w.WR.WRID, w.WR.Opcode, w.WR.SendFlags = wr.ID, uint32(opcode), wr.Flags&^provider.SendInline
	return slot, w
}

// end makes a request of so many bytes the last of the ring.
func (q *sendQueue) end(w *abi.RXESendWQE, length uint64) {
	w.DMA.Length, w.DMA.Resid = uint32(length), uint32(length)
	q.work += length + packet
	q.prod = q.ring.next(q.prod)
}

// postOther is post for any request.
func (q *sendQueue) postOther(op opFlags, opcode abi.IBUverbsWROpcode, wr *provider.SendWR) error {
	sges, inline := wr.SGEs, isInline(wr)
	length, err := q.limits.check(op, wr, len(sges), inline)
	if err != nil {
		return err
	}
	if q.ring.full(q.prod) {
		return provider.ErrQueueFull
	}
	slot, w := q.begin(opcode, wr)
	if err := encodeMore(w, op, wr); err != nil {
		return err
	}
	switch {
	case op&(opList|opAtomicWrite) == 0: // no data
	case inline:
		length = encodeInline(&q.ring, slot, op, wr.Inline)
	default:
		length = putSGEs(slot, sendWQESize, sges)
		w.DMA.NumSGE = uint32(len(sges))
	}
	if length > q.limits.message || op&opAtomic != 0 && length != 8 {
		return q.limits.lengthError(op)
	}
	q.end(w, length)
	return nil
}

// isInline reports whether the data of a request travels in the slot.
func isInline(wr *provider.SendWR) bool {
	return wr.Flags&provider.SendInline != 0 || len(wr.Inline) != 0
}

// check checks a request with so many scatter/gather entries, and returns the length
// of one without data. The kernel checks little of what lies in a user's ring:
// validate_send_wr is for kernel users, and num_sge is checked by recent stable
// releases only (rxe_requester).
func (l *limits) check(op opFlags, wr *provider.SendWR, sges int, inline bool) (uint64, error) {
	switch {
	case op == 0:
		return 0, provider.ErrOpcode
	case wr.Flags&^provider.SendKnown != 0:
		return 0, provider.ErrSendFlags
	case op&(opLocal|opFlush) != 0:
		return checkNoData(op, wr)
	case op&opAtomicWrite != 0:
		return l.checkAtomicWrite(wr)
	case inline:
		return 0, l.checkInline(op, wr)
	case uint64(sges) > uint64(l.sges):
		return 0, provider.ErrTooManySGEs
	}
	return 0, nil
}

// checkInline checks a request with inline data.
func (l *limits) checkInline(op opFlags, wr *provider.SendWR) error {
	switch {
	case op&opInline == 0:
		return errInlineOpcode
	case len(wr.SGEs) != 0:
		return errInlineAndSGE
	case uint64(len(wr.Inline)) > uint64(l.inline):
		return provider.ErrInlineSize
	}
	return nil
}

// checkNoData checks a request that moves nothing. The length of a flush is that
// of what it covers, and stands where others have the length of their data.
func checkNoData(op opFlags, wr *provider.SendWR) (uint64, error) {
	switch {
	case isInline(wr) || len(wr.SGEs) != 0:
		return 0, errNoDataOp
	case op&opFlush == 0:
		return 0, nil
	}
	return uint64(wr.FlushLength), nil
}

// checkAtomicWrite: the kernel takes the 8 bytes from the place of inline data
// (rxe_req.c finish_packet) and checks nothing.
func (l *limits) checkAtomicWrite(wr *provider.SendWR) (uint64, error) {
	switch {
	case len(wr.Inline) != 8 || len(wr.SGEs) != 0:
		return 0, errAtomicWrite
	case l.inline < 8:
		return 0, provider.ErrInlineSize
	case wr.RemoteAddr%8 != 0:
		return 0, errAtomicAlign
	}
	return 8, nil
}

// lengthError says which length a request does not have.
func (l *limits) lengthError(op opFlags) error {
	switch {
	case op&opAtomic != 0:
		return errAtomicSize
	case l.message == maxDatagram:
		return errDatagramSize
	}
	return errMessageSize
}
