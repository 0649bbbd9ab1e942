package siw

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// maxMessage is the longest message: siw has its length in an int
// (siw_check_sgl_tx).
const maxMessage = 1<<31 - 1

// sendQueue is the send side of a queue pair.
type sendQueue struct {
	producer
	limits limits
	always provider.SendFlags // flags that each request has: SIW_SIGNAL_ALL_WR is for the kernel's own users (siw_post_send)
	bell   *provider.QPBell
	owed   bool // the kernel refused the last doorbell
}

// limits are what one request may carry.
type limits struct {
	sges   uint32
	inline uint32
}

// postAll posts requests up to the first that is refused, and rings for those
// before it.
func (q *sendQueue) postAll(wrs provider.List[provider.SendWR]) (n int, err error) {
	for wr := wrs.First; n < wrs.N; wr = provider.After(wr) {
		if err = q.post(wr); err != nil {
			break
		}
		if n++; n == wrs.N {
			break
		}
	}
	if n > 0 || err == nil {
		if rung := q.flush(); rung != nil {
			err = rung
		}
	}
	return n, err
}

// post checks a request and writes it to the next element.
func (q *sendQueue) post(wr *provider.SendWR) error {
	o := opOf(wr.Opcode)
	if err := q.limits.check(o.flags, wr); err != nil {
		return err
	}
	if q.full() {
		return provider.ErrQueueFull
	}
	q.put(encodeSend(q.ring.sqe(q.prod), o, wr, wr.Flags|q.always))
	return nil
}

// flush hands over the requests written so far and rings the doorbell, unless the
// kernel is on its way to them. It is when it has not taken the element before the
// first of them: it looks at the next one after each (siw_qp_sq_process), and
// clears the flags of one with a full barrier before. When the kernel refuses
// (ENOTCONN: the queue pair is not in RTS), the requests stay in the ring, and the
// next flush asks again.
func (q *sendQueue) flush() error {
	first, written := q.shown, q.prod-q.shown
	if written == 0 && !q.owed {
		return nil
	}
	q.publish()
	if !q.owed && written <= q.ring.mask && q.waits(first-1) {
		return nil
	}
	// siw_post_send writes to the socket in the call, for which it waits for memory.
	n, err := q.bell.Long.Ring(q.bell.Command)
	if n != len(q.bell.Command) || err != nil {
		err = q.bell.Again(n, err)
	}
	q.owed = err != nil
	return err
}

// isInline reports whether the data of a request travels in the element.
func isInline(wr *provider.SendWR) bool {
	return wr.Flags&provider.SendInline != 0 || len(wr.Inline) != 0
}

// check checks a request against the limits of the queue and the needs of its
// opcode. The kernel checks little of what lies in a process's ring: not even the
// number of entries (siw_activate_tx_from_sq), and what it does refuse there it
// leaves in the ring for ever.
func (l *limits) check(f opFlags, wr *provider.SendWR) error {
	switch {
	case f == 0:
		return opcodeError(wr.Opcode)
	case wr.Flags&^provider.SendKnown != 0:
		return provider.ErrSendFlags
	case f&opLocal != 0:
		if isInline(wr) || len(wr.SGEs) != 0 {
			return errNoData
		}
		return nil
	case isInline(wr):
		return l.checkInline(f, wr)
	case f&opRead != 0 && len(wr.SGEs) > 1:
		return errReadSGE
	case f&opRead != 0 && wr.Flags&provider.SendFence != 0:
		return errReadFence
	}
	return checkSGEs(wr.SGEs, l.sges)
}

func (l *limits) checkInline(f opFlags, wr *provider.SendWR) error {
	switch {
	case f&opInline == 0:
		return errInlineOpcode
	case len(wr.SGEs) != 0:
		return errInlineAndSGE
	case uint64(len(wr.Inline)) > uint64(l.inline):
		return provider.ErrInlineSize
	}
	return nil
}

func checkSGEs(sges []provider.SGE, limit uint32) error {
	if uint64(len(sges)) > uint64(limit) {
		return provider.ErrTooManySGEs
	}
	var sum uint64
	for i := range sges {
		sum += uint64(sges[i].Length)
	}
	if sum > maxMessage {
		return errMessageSize
	}
	return nil
}

// encodeSend writes all of a checked request but the word with its flags, which it
// returns.
func encodeSend(w *abi.SIWSqe, o op, wr *provider.SendWR, asked provider.SendFlags) uint32 {
	w.ID, w.RKey, w.Raddr = wr.ID, 0, 0
	switch {
	case o.flags&opRemote != 0:
		w.RKey, w.Raddr = wr.RKey, wr.RemoteAddr
	case o.flags&opInvalidate != 0:
		w.RKey = wr.InvalidateKey
	}
	flags := abi.SIW_WQE_VALID
	if asked&provider.SendSignaled != 0 {
		flags |= abi.SIW_WQE_SIGNALLED
	}
	if asked&provider.SendFence != 0 {
		flags |= abi.SIW_WQE_READ_FENCE
	}
	if asked&provider.SendSolicited != 0 && o.flags&opSolicited != 0 {
		flags |= abi.SIW_WQE_SOLICITED
	}
	if isInline(wr) {
		w.SGE[0] = abi.SIWSGE{Length: uint32(copy(inline(w)[:], wr.Inline))}
		return requestWord(flags|abi.SIW_WQE_INLINE, 1, o.code)
	}
	n := copy(entries(&w.SGE[0])[:], wr.SGEs)
	if o.flags&opRead != 0 && n == 0 {
		w.SGE[0], n = abi.SIWSGE{}, 1 // the kernel takes the first, whatever the number says
	}
	return requestWord(flags, n, o.code)
}
