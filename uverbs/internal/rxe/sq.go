package rxe

import (
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
	ops    []opFlags
	limits limits
	bell   provider.QPBell
}

// limits are what one request may carry, checked at setup to fit a slot.
type limits struct {
	sges   uint32
	inline uint32
}

// post checks a request and writes it to the next slot, which the kernel does
// not look at before flush moves the shared producer index past it.
func (q *sendQueue) post(wr *provider.SendWR) error {
	if uint32(wr.Opcode) >= uint32(len(q.ops)) {
		return provider.ErrOpcode
	}
	op := q.ops[wr.Opcode]
	if op == 0 {
		return provider.ErrOpcode
	}
	length, err := q.limits.checkSend(op, wr)
	if err == nil && op&opUD != 0 {
		err = checkDatagram(length, wr)
	}
	if err != nil {
		return err
	}
	if q.ring.full(q.prod) {
		return provider.ErrQueueFull
	}
	encodeSend(&q.ring, q.prod, op, wr, length)
	q.prod = q.ring.next(q.prod)
	return nil
}

// flush publishes the requests written so far and asks the kernel once to
// process them. When the kernel refuses (EINVAL: the queue pair is not yet in
// RTS), the requests stay in the ring, and the next flush asks again.
func (q *sendQueue) flush() error {
	if q.prod == q.rung {
		return nil
	}
	q.ring.prod.Store(q.prod)
	if err := q.bell.Send(); err != nil {
		return err
	}
	q.rung = q.prod
	return nil
}

// isInline reports whether the data of a request travels in the slot.
func isInline(wr *provider.SendWR) bool {
	return wr.Flags&provider.SendInline != 0 || len(wr.Inline) != 0
}

// checkSend checks a request against the limits of the queue and the needs of
// its opcode, and returns the length of its message. The kernel checks little
// of what lies in a user's ring: validate_send_wr is for kernel users, and
// num_sge is checked by recent stable releases only (rxe_requester).
func (l *limits) checkSend(op opFlags, wr *provider.SendWR) (uint32, error) {
	switch {
	case op&(opLocal|opFlush) != 0:
		return checkNoData(op, wr)
	case op&opAtomicWrite != 0:
		return l.checkAtomicWrite(wr)
	case isInline(wr):
		return l.checkInline(op, wr)
	}
	length, err := sgeLength(wr.SGEs, l.sges)
	if err == nil && op&opAtomic != 0 {
		err = checkAtomic(length, wr.RemoteAddr)
	}
	return length, err
}

func (l *limits) checkInline(op opFlags, wr *provider.SendWR) (uint32, error) {
	switch {
	case op&opInline == 0:
		return 0, errInlineOpcode
	case len(wr.SGEs) != 0:
		return 0, errInlineAndSGE
	case uint64(len(wr.Inline)) > uint64(l.inline):
		return 0, provider.ErrInlineSize
	}
	return uint32(len(wr.Inline)), nil
}

// checkNoData checks a request that moves nothing. The length of a flush is that
// of what it covers, and stands where others have the length of their data.
func checkNoData(op opFlags, wr *provider.SendWR) (uint32, error) {
	switch {
	case isInline(wr) || len(wr.SGEs) != 0:
		return 0, errNoDataOp
	case op&opBind != 0 && wr.Bind == nil:
		return 0, provider.ErrNoBind
	case op&opFlush == 0:
		return 0, nil
	case wr.FlushLength > maxMessage:
		return 0, errMessageSize
	}
	return wr.FlushLength, nil
}

// checkAtomicWrite: the kernel takes the 8 bytes from the place of inline data
// (rxe_req.c finish_packet) and checks nothing.
func (l *limits) checkAtomicWrite(wr *provider.SendWR) (uint32, error) {
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

// checkAtomic makes the checks that validate_send_wr of rxe_verbs.c makes for
// kernel users only.
func checkAtomic(length uint32, remote uint64) error {
	if length != 8 {
		return errAtomicSize
	}
	if remote%8 != 0 {
		return errAtomicAlign
	}
	return nil
}

func checkDatagram(length uint32, wr *provider.SendWR) error {
	if wr.AH == nil {
		return provider.ErrNoAH
	}
	if length > maxDatagram {
		return errDatagramSize
	}
	return nil
}

// sgeLength is the sum of the lengths of at most limit entries.
func sgeLength(sges []provider.SGE, limit uint32) (uint32, error) {
	if uint64(len(sges)) > uint64(limit) {
		return 0, provider.ErrTooManySGEs
	}
	var sum uint64
	for i := range sges {
		sum += uint64(sges[i].Length)
	}
	if sum > maxMessage {
		return 0, errMessageSize
	}
	return uint32(sum), nil
}
