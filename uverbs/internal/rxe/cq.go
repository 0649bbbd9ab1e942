package rxe

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// cq is a completion queue. The kernel fills it (rxe_cq.c rxe_cq_post), drops
// what does not fit and raises IB_EVENT_CQ_ERR then.
type cq struct {
	ring ring
	cons uint32 // own copy of the consumer index, always masked
	c    *context
	bell provider.CQBell
}

var _ provider.CQ = (*cq)(nil)

// Poll takes completions off the ring.
//
// The load of the producer index is the acquire that makes the entries visible:
// rxe_cq_post writes an entry, then publishes the index (smp_wmb in 5.10,
// smp_store_release later). The store of the consumer index is the release
// after which the kernel may overwrite the slots.
//
// On an error status only ID, Status, VendorErr and QPN have a meaning: rxe
// leaves the rest of the entry zero (make_send_cqe, flush_send_wqe,
// rxe_resp.c do_complete), so Opcode reads as IB_WC_SEND even for a receive.
func (q *cq) Poll(wcs []provider.WC) int {
	r, cons := &q.ring, q.cons
	if n := (r.prod.Load() - cons) & r.mask; uint64(n) < uint64(len(wcs)) {
		wcs = wcs[:n]
	}
	if len(wcs) == 0 {
		return 0
	}
	for i := range wcs {
		decodeWC(&wcs[i], (*abi.IBUverbsWC)(r.slot(cons)))
		cons++
	}
	q.cons = cons & r.mask
	r.cons.Store(q.cons)
	return len(wcs)
}

// decodeWC reads the shared entry once.
func decodeWC(wc *provider.WC, e *abi.IBUverbsWC) {
	copyWC(wc, e)
	if wc.Flags&(abi.IB_WC_WITH_IMM|abi.IB_WC_WITH_INVALIDATE) != 0 {
		setEx(wc)
	} else {
		wc.Imm = 0
	}
}

// setEx puts what the entry has in the place of Imm where it belongs.
func setEx(wc *provider.WC) {
	ex := wc.Imm
	if wc.Flags&abi.IB_WC_WITH_IMM != 0 {
		wc.Imm = swapNet(ex)
	} else {
		wc.Imm, wc.InvalidatedKey = 0, ex
	}
}

// Arm asks for one event at the next completion. Completions that came before
// raise none (rxe_verbs.c rxe_req_notify_cq), so the caller polls once more.
func (q *cq) Arm(solicitedOnly bool) error { return q.bell.Arm(solicitedOnly) }

// Close unmaps the ring.
func (q *cq) Close() error { return q.ring.close(q.c.env) }

// SetupResize: the kernel moves all completions to a new ring and answers where
// to map that (rxe_cq_resize_queue).
func (q *cq) SetupResize(int) (*provider.ModifySetup, error) {
	done := func(entries uint32, out []byte) (uint32, error) {
		old := q.ring
		q.ring = ring{}
		err := q.attach(int(entries), out, "RESIZE_CQ")
		return entries, errors.Join(err, old.close(q.c.env))
	}
	return &provider.ModifySetup{UHWOutLen: createCQResp, Done: done}, nil
}

// attach maps the ring that an answer describes, whose struct is the same for
// both commands.
func (q *cq) attach(entries int, out []byte, cmd string) error {
	if len(out) < createCQResp {
		return shortAnswer(cmd, len(out), createCQResp)
	}
	r, err := q.c.mapRing(out, wcSize)
	if err != nil {
		return fmt.Errorf("rxe: completion queue: %w", err)
	}
	if entries > int(r.mask) {
		err = fmt.Errorf("rxe: completion queue: ring has %d entries, kernel said %d", r.mask, entries)
		return errors.Join(err, r.close(q.c.env))
	}
	q.ring, q.cons = r, r.cons.Load()&r.mask
	return nil
}

// swapNet converts between host and network byte order; immediate data is
// __be32 in requests and completions.
func swapNet(v uint32) uint32 {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], v)
	return binary.BigEndian.Uint32(b[:])
}
