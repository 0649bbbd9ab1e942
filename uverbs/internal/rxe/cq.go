package rxe

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// cq is a completion queue. The kernel fills it (rxe_cq.c rxe_cq_post), drops
// what does not fit and raises IB_EVENT_CQ_ERR then.
type cq struct {
	provider.Gate
	ring ring
	cons uint32 // own copy of the consumer index, always masked
	c    *context
	bell provider.CQBell
}

var _ provider.CQ = (*cq)(nil)

// Poll takes completions off the ring.
//
// Each entry is copied before anything of it is looked at. The loop calls nothing, and
// what it does is spelled out: a call would make it keep everything in memory, and even
// one that the compiler puts in place leaves a NOP there.
//
// The load of the producer index is the acquire that makes the entries visible:
// rxe_cq_post writes an entry, then publishes the index (smp_wmb in 5.10,
// smp_store_release later). The store of the consumer index is the release
// after which the kernel may overwrite the slots.
//
// On an error status only ID, Status, VendorErr and QPN have a meaning: rxe
// leaves the rest of the entry zero (make_send_cqe, flush_send_wqe,
// rxe_resp.c do_complete), so Opcode reads as IB_WC_SEND even for a receive.
func (q *cq) Poll(wcs provider.List[provider.WC]) (int, error) {
	if atomic.SwapUint32(&q.Held, 1) != 0 { // q.Lock()
		q.Wait()
	}
	r, cons := &q.ring, q.cons
	n := min(int((r.prod.Load()-cons)&r.mask), wcs.N)
	if n == 0 { // as in a ring that is gone, so that nobody else need look
		err := q.Why
		atomic.StoreUint32(&q.Held, 0)
		return 0, err
	}
	wc := wcs.First
	for left := n; ; {
		e := (*abi.IBUverbsWC)(unsafe.Add(r.data, uintptr(cons)*r.size)) // ring.at
		*(*abi.IBUverbsWC)(unsafe.Pointer(wc)) = *e                      // see completionsAgree
		wc.VLAN, wc.InvalidatedKey, wc.FlowTag, wc.Timestamp = 0, 0, 0, 0
		if wc.Flags&(abi.IB_WC_WITH_IMM|abi.IB_WC_WITH_INVALIDATE) != 0 {
			if wc.Flags&abi.IB_WC_WITH_IMM != 0 {
				wc.Imm = fromNet(&wc.Imm)
			} else {
				wc.Imm, wc.InvalidatedKey = 0, wc.Imm
			}
		}
		cons = (cons + 1) & r.mask
		if left--; left == 0 {
			break
		}
		wc = provider.After(wc)
	}
	q.cons = cons
	r.cons.Store(cons)
	atomic.StoreUint32(&q.Held, 0) // q.Unlock()
	return n, nil
}

// Arm asks for one event at the next completion. Completions that came before
// raise none (rxe_verbs.c rxe_req_notify_cq), so the caller polls once more.
func (q *cq) Arm(solicitedOnly bool) error { return q.bell.Arm(solicitedOnly) }

// Close unmaps the ring.
func (q *cq) Close() error {
	q.Lock()
	mem := q.leave()
	q.Unlock()
	return q.c.env.Unmap(mem)
}

// leave takes the ring away and returns its mapping.
func (q *cq) leave() []byte {
	mem := q.ring.mem
	q.ring, q.cons = noRing, 0
	return mem
}

// SetupResize: the kernel moves all completions to a new ring and answers where
// to map that (rxe_cq_resize_queue).
func (q *cq) SetupResize(int) (*provider.ModifySetup, error) {
	done := func(entries uint32, out []byte) (uint32, error) {
		old := q.leave()
		err := errors.Join(q.attach(int(entries), out, "RESIZE_CQ"), q.c.env.Unmap(old))
		if err != nil { // then polling shall find nothing but the error
			err = errors.Join(err, q.c.env.Unmap(q.leave()))
		}
		return entries, err
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
