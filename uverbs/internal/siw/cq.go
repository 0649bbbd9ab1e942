package siw

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// cq is a completion queue. The kernel fills it, drops what does not fit and
// raises IB_EVENT_CQ_ERR then (siw_sqe_complete).
type cq struct {
	provider.Gate
	ring ring
	cons uint32 // next element to read; runs freely
	env  provider.Env

	nowhere [(cqeSize + ctrlSize) / 8]uint64 // the ring after Close
}

var _ provider.CQ = (*cq)(nil)

// Poll takes completions off the ring. The load of the flags is the acquire that
// makes an element visible, and the store that clears them the release after which
// the kernel may overwrite it.
//
// Opcode is right for failed requests too. ByteLen of one is what was transferred
// before. InvalidatedKey is never set: the kernel tells that to its own users only
// (siw_rqe_complete).
func (q *cq) Poll(wcs provider.List[provider.WC]) (int, error) {
	q.Lock()
	n := 0
	for wc := wcs.First; n < wcs.N; wc = provider.After(wc) {
		word := q.ring.word(q.cons)
		w := word.Load()
		if cqeFlags(w)&abi.SIW_WQE_VALID == 0 {
			break
		}
		e := *q.ring.cqe(q.cons) // one copy: what is checked is what is used
		decodeWC(wc, w, &e)
		word.Store(0)
		q.cons++
		if n++; n == wcs.N {
			break
		}
	}
	var err error
	if n == 0 {
		err = q.Ended()
	}
	q.Unlock()
	return n, err
}

// cqeFlags are the flags in the word of a completion, its first byte.
func cqeFlags(word uint32) abi.SIWWQEFlags {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], word)
	return abi.SIWWQEFlags(b[0])
}

// decodeWC translates a completion. Numbers that siw does not know, which another
// process may have put there, become a general error with the number in VendorErr.
func decodeWC(wc *provider.WC, word uint32, e *abi.SIWCQE) {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], word)
	code, status := b[1], binary.NativeEndian.Uint16(b[2:])
	*wc = provider.WC{ID: e.ID, ByteLen: e.Bytes, QPN: uint32(e.QPID)}
	switch {
	case uint32(code) >= uint32(len(wcOpcodes)):
		wc.Status, wc.VendorErr = abi.IB_WC_GENERAL_ERR, uint32(code)
		return
	case uint32(status) >= uint32(len(wcStatus)):
		wc.Status, wc.VendorErr = abi.IB_WC_GENERAL_ERR, uint32(status)
	default:
		wc.Status = wcStatus[status]
	}
	wc.Opcode = wcOpcodes[code]
}

// Arm asks for one event at the next completion by a store to the control word; the
// kernel looks there after each completion, with a full barrier between
// (siw_cq_notify_now). Completions that came before raise none, so the caller polls
// once more.
//
// siw does not remember which of a peer's messages asked for attention, and raises
// no event for receives when only those are wanted (siw_rqe_complete). So the next
// completion of any kind raises the event: better one too many than none.
func (q *cq) Arm(bool) error {
	q.ring.control().Store(uint32(abi.SIW_NOTIFY_SOLICITED | abi.SIW_NOTIFY_NEXT_COMPLETION))
	return nil
}

// SetupResize refuses: the kernel's driver has no such command.
func (q *cq) SetupResize(int) (*provider.ModifySetup, error) {
	return nil, fmt.Errorf("siw: the size of a completion queue is fixed: %w", errors.ErrUnsupported)
}

// Close unmaps the ring.
func (q *cq) Close() error {
	q.Lock()
	mem := q.ring.take()
	q.ring = noCompletions(&q.nowhere)
	q.Unlock()
	return q.env.Unmap(mem)
}
