package uverbs

import (
	"fmt"
	"slices"

	"github.com/purerdma/rdma/abi"
)

// MRChange says what [MR.Rereg] changes. The zero value is refused
// (syscall.EINVAL).
type MRChange struct {
	// PD, if not nil, is the new protection domain, of the same context.
	PD *PD

	// Memory, if not nil, is the new memory: Length bytes from Offset, or all
	// from Offset when Length is 0.
	Memory         *Memory
	Offset, Length int

	// Access, if not nil, are the new access flags.
	Access *Access
}

// Rereg changes a memory region in place (REREG_MR), which can be cheaper than
// registering anew. Its keys may change: ask LKey and RKey again. No request may
// use the region meanwhile, and no other method of it may run.
//
// The error is an *[Error]. It matches errors.ErrUnsupported for what a driver
// cannot change: soft-RoCE has PD and Access from Linux 6.2 on and never Memory.
// A driver that fails while it changes Memory may leave a region that is of no
// use; then close it.
func (mr *MR) Rereg(change MRChange) error {
	if err := mr.life.enterAlone(); err != nil {
		return err
	}
	defer mr.life.leaveAlone()
	next, flags, err := mr.changed(change)
	if err != nil {
		return err
	}
	if err := mr.life.move(mr.parentsWith(&next), func() error { return mr.rereg(&next, flags, change.Access) }); err != nil {
		return err
	}
	mr.life.settle(mr.pd.c.dev.Name, mr.name())
	return nil
}

// parentsWith replaces domain and memory among what the region needs, which may
// be more: a hint, device memory.
func (mr *MR) parentsWith(next *mrPlace) []*life {
	parents := slices.DeleteFunc(slices.Clone(mr.life.parents), func(p *life) bool {
		return p == &mr.pd.life || mr.mem != nil && p == &mr.mem.life
	})
	parents = append(parents, &next.pd.life)
	if next.mem != nil {
		parents = append(parents, &next.mem.life)
	}
	return parents
}

// check says what is wrong with a change in itself.
func (change *MRChange) check() error {
	if *change == (MRChange{}) {
		return invalid("no change is asked for")
	}
	if change.Memory == nil && (change.Offset != 0 || change.Length != 0) {
		return invalid("Offset and Length are those of new Memory, which is not given")
	}
	if change.Access != nil {
		return checkAccess(*change.Access)
	}
	return nil
}

// mrPlace is the part of a region that a change concerns.
type mrPlace struct {
	pd          *PD
	mem         *Memory
	start, addr uint64
	length      int
}

// changed says how the region will be.
func (mr *MR) changed(change MRChange) (next mrPlace, flags abi.IBMRReregFlags, err error) {
	next = mrPlace{mr.pd, mr.mem, mr.start, mr.addr, mr.length}
	if err := change.check(); err != nil {
		return next, flags, mr.pd.c.fail(cmdReregMR.name, mr.life.name, err)
	}
	if change.PD != nil {
		flags |= abi.IB_MR_REREG_PD
		next.pd = change.PD
		if next.pd.c != mr.pd.c {
			err = fmt.Errorf("the new PD belongs to another context: %w", errInvalid)
			return next, flags, mr.pd.c.fail(cmdReregMR.name, mr.life.name, err)
		}
	}
	if mem := change.Memory; mem != nil {
		flags |= abi.IB_MR_REREG_TRANS
		if change.Length == 0 {
			change.Length = mem.Len() - change.Offset
		}
		if err := next.pd.checkRange(mem, change.Offset, change.Length); err != nil {
			return next, flags, err
		}
		next.mem, next.length = mem, change.Length
		next.start = mem.Addr() + uint64(change.Offset)
		next.addr = next.start
	}
	if change.Access != nil {
		flags |= abi.IB_MR_REREG_ACCESS
		if err := mr.pd.c.driverTakes(next.start, next.addr, *change.Access); err != nil {
			return next, flags, mr.pd.c.fail(cmdReregMR.name, mr.life.name, err)
		}
	}
	return next, flags, nil
}

// rereg issues the command and takes over what it changed.
func (mr *MR) rereg(next *mrPlace, flags abi.IBMRReregFlags, access *Access) error {
	c, what := mr.pd.c, fmt.Sprintf("%s, flags %#x", mr.life.name, uint32(flags))
	w, err := newWrite(&cmdReregMR, nil, 0)
	if err != nil {
		return c.fail(cmdReregMR.name, what, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsReregMR](w)
	req.MRHandle, req.Flags, req.PDHandle = mr.handle, uint32(flags), next.pd.handle
	if flags&abi.IB_MR_REREG_TRANS != 0 {
		req.Start, req.Length, req.HcaVa = next.start, uint64(next.length), next.addr
	}
	if access != nil {
		req.AccessFlags = uint32(c.forKernel(*access))
	}
	if err := c.writeRaw(w); err != nil {
		if access != nil {
			err = c.explainAccess(err, *access)
		}
		hint, err := refusedMemory(err, next.start, next.length)
		return &Error{Op: cmdReregMR.name, Object: what, Device: c.dev.Name, Hint: hint, Err: err}
	}
	resp := respOf[abi.IBUverbsReregMRResp](w)
	mr.lkey, mr.rkey = resp.LKey, resp.RKey
	mr.pd, mr.mem, mr.start, mr.addr, mr.length = next.pd, next.mem, next.start, next.addr, next.length
	return nil
}
