package fakeverbs

import "github.com/purerdma/rdma/abi"

// Keys are checked as rxe_mr.c and rxe_mw.c check them: the key itself, the
// protection domain of memory and queue pair, the access rights, the range.

// localAccess is what a request needs of its own memory: the answer of a read or
// an atomic operation is written there.
func localAccess(op abi.IBUverbsWROpcode) abi.IBUverbsAccessFlags {
	if op == abi.IB_UVERBS_WR_RDMA_READ || isAtomic(op) {
		return abi.IB_UVERBS_ACCESS_LOCAL_WRITE
	}
	return 0
}

// remoteAccess is what a request needs of the peer's memory and queue pair.
func remoteAccess(op abi.IBUverbsWROpcode) abi.IBUverbsAccessFlags {
	switch {
	case isAtomic(op):
		return abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC
	case op == abi.IB_UVERBS_WR_RDMA_READ:
		return abi.IB_UVERBS_ACCESS_REMOTE_READ
	}
	return abi.IB_UVERBS_ACCESS_REMOTE_WRITE
}

func isAtomic(op abi.IBUverbsWROpcode) bool {
	return op == abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP || op == abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD
}

// reads reports whether a request counts against MaxRdAtomic.
func reads(op abi.IBUverbsWROpcode) bool { return op == abi.IB_UVERBS_WR_RDMA_READ || isAtomic(op) }

// admits reports whether a queue pair serves such requests (check_op_valid,
// check_resource).
func (q *qp) admits(op abi.IBUverbsWROpcode, need abi.IBUverbsAccessFlags) bool {
	return q.attr.QPAccessFlags&uint32(need) != 0 && (!reads(op) || q.attr.MaxDestRdAtomic > 0)
}

// owns checks the local keys of a request's memory.
func (k *Kernel) owns(p *pd, list []abi.RXESGE, need abi.IBUverbsAccessFlags) bool {
	for _, s := range list {
		m, ok := k.objects[s.LKey>>8].(*mr)
		switch {
		case s.Length == 0:
		case !ok || s.LKey&0xff != localKey || m.pd != p || m.access&uint32(need) != uint32(need):
			return false
		case !m.holds(s.Addr, s.Length):
			return false
		}
	}
	return true
}

// The low bytes of a region's keys.
const (
	localKey  = 0
	remoteKey = 1
)

// holds reports whether so many bytes are inside the region.
func (m *mr) holds(addr uint64, n uint32) bool { return inside(m.addr, m.length, addr, n) }

func inside(base, length, addr uint64, n uint32) bool {
	return addr >= base && uint64(n) <= length && addr-base <= length-uint64(n)
}

// reachRemote returns the memory that a key admits a peer of the queue pair to.
func (k *Kernel) reachRemote(to *qp, addr uint64, n, rkey uint32, need abi.IBUverbsAccessFlags) ([]byte, bool) {
	switch o := k.objects[rkey>>8].(type) {
	case *mr:
		if rkey&0xff == remoteKey && o.pd == to.pd && o.access&uint32(need) != 0 && o.holds(addr, n) {
			return at(o.start+addr-o.addr, int(n)), true
		}
	case *mw:
		mine := o.typ != abi.IB_MW_TYPE_2 || o.qp != nil && o.qp == to
		if o.key == rkey && o.mr != nil && o.pd == to.pd && mine && o.access&uint32(need) != 0 && inside(o.addr, o.length, addr, n) {
			return at(o.mr.start+addr-o.mr.addr, int(n)), true
		}
	}
	return nil, false
}

// recvPD is the domain of the memory that a receive may name.
func (q *qp) recvPD() *pd {
	if q.pd == nil && q.srq != nil {
		return q.srq.pd // a target of XRC
	}
	return q.pd
}
