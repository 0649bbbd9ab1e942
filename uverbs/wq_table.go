package uverbs

import (
	"fmt"
	"math/bits"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// maxWQTable is how many work queues a table may name here: what fits the
// memory of one command.
const maxWQTable = 256

// A WQTable is an indirection table of receive work queues: a raw packet queue
// pair chooses one by a hash of each packet.
type WQTable struct {
	life   life
	c      *Context
	handle uint32
	number uint32
}

// CreateWQTable creates a table of work queues (CREATE_RWQ_IND_TBL): a power of
// two of them, up to 256, where one may appear more than once. They must stay
// open until the table is closed. The error is an *[Error]; it matches
// errors.ErrUnsupported on a device without tables, such as soft-RoCE.
func (c *Context) CreateWQTable(wqs ...*WQ) (*WQTable, error) {
	what := fmt.Sprintf("new table of %d work queues", len(wqs))
	if n := len(wqs); n == 0 || n > maxWQTable || n&(n-1) != 0 {
		return nil, c.fail(cmdExCreateRWQIndTbl.name, what, errInvalid)
	}
	parents := []*life{&c.life}
	for _, wq := range wqs {
		if wq == nil || wq.c != c {
			return nil, c.fail(cmdExCreateRWQIndTbl.name, what, invalid("a work queue is missing, or belongs to another context"))
		}
		parents = append(parents, &wq.life)
	}
	t := &WQTable{c: c}
	if err := t.life.begin(c.dev.Name, what, parents...); err != nil {
		return nil, err
	}
	if err := t.create(wqs); err != nil {
		t.life.unregister()
		return nil, err
	}
	t.life.settle(c.dev.Name, fmt.Sprintf("WQ table %d", t.handle))
	return t, nil
}

func (t *WQTable) create(wqs []*WQ) error {
	// A core struct of extended commands consists of words of 8 bytes.
	w, err := newWriteTail(&cmdExCreateRWQIndTbl, roundUp(4*len(wqs), 8))
	if err != nil {
		return t.c.fail(cmdExCreateRWQIndTbl.name, t.life.name, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsExCreateRWQIndTable](w).LogIndTblSize = uint32(bits.TrailingZeros(uint(len(wqs))))
	handles := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(w.tail()))), len(wqs))
	for i, wq := range wqs {
		handles[i] = wq.handle
	}
	if err := t.c.write(w, t.life.name); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsExCreateRWQIndTableResp](w)
	t.handle, t.number = resp.IndTblHandle, resp.IndTblNum
	return nil
}

// Number returns the table's number, as the kernel answered it.
func (t *WQTable) Number() uint32 { return t.number }

// Handle returns the kernel's handle of the table within its context.
func (t *WQTable) Handle() uint32 { return t.handle }

// String returns "WQ table " and the handle.
func (t *WQTable) String() string { return t.life.name }

// Close destroys the table (RWQ_IND_TBL_DESTROY, DESTROY_RWQ_IND_TBL). While
// queue pairs use it, it returns a *[BusyError] that names them. It may be called
// more than once and from any goroutine.
func (t *WQTable) Close() error {
	return t.life.close(func() error {
		if !t.c.native() {
			return t.c.destroyEx(&cmdExDestroyRWQIndTbl, t.handle, t.life.name)
		}
		return t.c.destroyNative(&methodRWQIndTblDestroy, uint16(abi.UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE), t.handle, t.life.name)
	}, nil)
}
