package uverbs

import (
	"errors"
	"fmt"
	"sync"

	"github.com/purerdma/rdma/abi"
)

// An MW is a memory window: a remote key that a queue pair binds to part of a
// memory region, and to another part or to nothing later, without the cost of a
// registration. All methods are safe for concurrent use.
type MW struct {
	life   life
	pd     *PD
	typ    abi.IBMWType
	handle uint32

	mu  sync.Mutex // guards key, and keeps binds of BindMW in order
	key uint32
}

// AllocMW creates a memory window that is bound to nothing (ALLOC_MW).
//
// A window of IB_MW_TYPE_1 admits peers of all queue pairs of the protection
// domain, and is bound anew whenever wanted. One of IB_MW_TYPE_2 admits only the
// peer of the queue pair that bound it, and must be invalidated
// (IB_UVERBS_WR_LOCAL_INV, or the peer's IB_UVERBS_WR_SEND_WITH_INV) before it is
// bound again.
//
// The error is an *[Error]; it matches errors.ErrUnsupported on a device
// without windows, which soft-RoCE is before Linux 5.14.
func (pd *PD) AllocMW(typ abi.IBMWType) (*MW, error) {
	c, name := pd.c, fmt.Sprintf("new MW of type %d", typ)
	if typ != abi.IB_MW_TYPE_1 && typ != abi.IB_MW_TYPE_2 {
		return nil, c.fail(cmdAllocMW.name, name, errInvalid)
	}
	mw := &MW{pd: pd, typ: typ}
	if err := mw.life.begin(c.dev.Name, name, &pd.life); err != nil {
		return nil, err
	}
	w, err := newWrite(&cmdAllocMW, nil, 0)
	if err == nil {
		defer w.release()
		req := reqOf[abi.IBUverbsAllocMW](w)
		req.PDHandle, req.MWType = pd.handle, uint8(typ)
		err = c.write(w, name)
	}
	if err != nil {
		mw.life.unregister()
		return nil, c.fail(cmdAllocMW.name, name, err)
	}
	resp := respOf[abi.IBUverbsAllocMWResp](w)
	mw.handle, mw.key = resp.MWHandle, resp.RKey
	mw.life.settle(c.dev.Name, fmt.Sprintf("MW %d", mw.handle))
	return mw, nil
}

// PD returns the window's protection domain.
func (mw *MW) PD() *PD { return mw.pd }

// Type returns IB_MW_TYPE_1 or IB_MW_TYPE_2.
func (mw *MW) Type() abi.IBMWType { return mw.typ }

// Handle returns the kernel's handle of the window within its context.
func (mw *MW) Handle() uint32 { return mw.handle }

// RKey returns the key that the last bind gave, which is what a peer needs.
// Each bind changes it, so that the key of an earlier one is of no use any more.
func (mw *MW) RKey() uint32 {
	mw.mu.Lock()
	defer mw.mu.Unlock()
	return mw.key
}

// String returns "MW " and the handle.
func (mw *MW) String() string { return mw.life.name }

// Close destroys the window (MW_DESTROY, DEALLOC_MW); its key ends with it. It
// may be called more than once and from any goroutine. Close windows before the
// regions they are bound to, whose Close fails else.
func (mw *MW) Close() error {
	return mw.life.close(func() error {
		return mw.pd.c.destroyObject(&methodMWDestroy, uint16(abi.UVERBS_ATTR_DESTROY_MW_HANDLE),
			&cmdDeallocMW, mw.handle, mw.life.name)
	}, nil)
}

// MWBind is what a memory window is bound to.
type MWBind struct {
	// MR is a region with AccessMWBind of the window's protection domain.
	MR *MR

	// Addr and Length are the part of it that the window shows, Addr as in
	// MR.Addr. Length 0 unbinds a window of type 1. Soft-RoCE checks access
	// and the ends of the region, but lets peers go beyond the ends of the
	// window.
	Addr   uint64
	Length uint64

	// Access is what peers may do, at most what the region allows them.
	// Writing needs AccessLocalWrite of the region. With AccessZeroBased, for
	// type 2 only, peers count addresses from 0.
	Access Access
}

// windowAccess is what a binding can allow, and what makes no difference there: the
// right of the own device. Kernels before 6.2 forget the rest (rxe_do_bind_mw).
const windowAccess = AccessLocalWrite | AccessRemoteWrite | AccessRemoteRead | AccessRemoteAtomic |
	AccessZeroBased | AccessFlushGlobal | AccessFlushPersistent

// check says what is wrong with a binding, of which the device would only say that
// it failed, and stop the queue pair.
func (b *MWBind) check(qp *QP, mw *MW) error {
	switch {
	case b.Access&^windowAccess != 0:
		return invalid("access %#x is more than what peers may do through a memory window", uint32(b.Access))
	case mw == nil || qp.pd == nil || !mw.pd.same(qp.pd):
		return invalid("no memory window of the queue pair's protection domain is given")
	case b.Access&AccessZeroBased != 0 && mw.typ == abi.IB_MW_TYPE_1:
		return invalid("%v is of type 1, whose addresses do not count from 0", mw)
	case b.MR == nil && b.Length != 0:
		return invalid("no region for the memory window is given")
	case b.MR == nil:
		return nil // bound to nothing
	case b.MR.life.destroyed.Load(): // not one whose Close was refused: for a window that is bound to it
		return b.MR.life.closed
	case !b.MR.pd.same(mw.pd):
		return invalid("%v belongs to another protection domain than %v", b.MR, mw)
	}
	if at, n := b.Addr-b.MR.addr, uint64(b.MR.length); b.Addr < b.MR.addr || at > n || b.Length > n-at {
		return invalid("%d bytes at %#x are not in %v at %#x", b.Length, b.Addr, b.MR, b.MR.addr)
	}
	return nil
}

// Bind is the part of a request of opcode IB_UVERBS_WR_BIND_MW that says which
// window is bound to what. [MW.NextBind] fills it in.
type Bind struct {
	WindowKey uint32 // the window's key before
	NewKey    uint32 // and after: the low 8 bits may change
	LKey      uint32 // local key of the region
	Access    Access // see MWBind
	Addr      uint64
	Length    uint64
}

// NextKey returns the key that follows a window's in order: its low 8 bits are
// one higher.
func NextKey(key uint32) uint32 { return key&^0xff | (key+1)&0xff }

// NextBind makes the Bind of a request that gives the window its next key, for
// programs that post it in a list or on their own. The window has that key
// (RKey) from now on, so requests must be posted in the order of the calls.
func (mw *MW) NextBind(b MWBind) Bind {
	mw.mu.Lock()
	defer mw.mu.Unlock()
	return mw.nextBind(b)
}

func (mw *MW) nextBind(b MWBind) Bind {
	to := Bind{WindowKey: mw.key, NewKey: NextKey(mw.key), Access: b.Access, Addr: b.Addr, Length: b.Length}
	if b.MR != nil {
		to.LKey = b.MR.LKey()
	}
	mw.key = to.NewKey
	return to
}

// BindMW posts a request that binds a memory window, of either type, and
// returns the key that the window has once that is carried out, which is before
// all requests posted later. id is handed back in the completion, whose opcode
// is IB_WC_BIND_MW; see SendFlags for flags.
//
// The error is one of PostSend, and matches syscall.EINVAL for a region of another
// protection domain than the window's, and a range outside of the region. What
// the device refuses, such as a region without AccessMWBind, or a window of type 2
// that is bound, takes the queue pair to the error state and completes with
// IB_WC_MW_BIND_ERR (soft-RoCE from Linux 6.2 on: IB_WC_WR_FLUSH_ERR); the window
// then has its old key, which only closing it ends.
func (qp *QP) BindMW(id uint64, flags SendFlags, mw *MW, b MWBind) (rkey uint32, err error) {
	if err := b.check(qp, mw); err != nil {
		return 0, qp.c.fail("bind", qp.life.name, err)
	}
	if err := mw.life.enter(); err != nil {
		return 0, err
	}
	defer mw.life.leave()
	mw.mu.Lock()
	defer mw.mu.Unlock()
	old := mw.key
	to := mw.nextBind(b)
	err = qp.PostSend(SendWR{ID: id, Opcode: abi.IB_UVERBS_WR_BIND_MW, Flags: flags, Bind: &to})
	var posted *PostError
	if err != nil && !errors.As(err, &posted) {
		mw.key = old // nothing is in the queue
		return 0, err
	}
	return to.NewKey, err
}
