package fakeverbs

import (
	"math"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// faults are what a test asked for. The methods here may be called at any time.
type faults struct {
	doorbell   doorbell
	held       map[uint32]bool // by number of the queue pair; 0 is all
	portDown   bool
	downStatus abi.IBWCStatus
	refusals   refusals
}

// refusals is how many REQ_NOTIFY_CQ fail.
type refusals struct {
	errno syscall.Errno
	left  int
}

type doorbell struct {
	errno syscall.Errno
	taken int
	lasts bool
}

// FailDoorbell makes the next POST_SEND fail, after so many requests of the ring
// were carried out. The others stay in the ring and go with the next doorbell, as
// those of a kernel that could not copy its answer, or had no memory for the
// command.
func (k *Kernel) FailDoorbell(errno syscall.Errno, taken int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults.doorbell = doorbell{errno: errno, taken: taken}
}

// FailDoorbells makes every POST_SEND fail before it does anything, until it is
// called with 0.
func (k *Kernel) FailDoorbells(errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults.doorbell = doorbell{errno: errno, lasts: true}
}

// HoldSends keeps the requests of the queue pair with a number in its send queue,
// 0 those of all. What is in ERROR is flushed all the same.
func (k *Kernel) HoldSends(qpn uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.faults.held == nil {
		k.faults.held = map[uint32]bool{}
	}
	k.faults.held[qpn] = true
}

// ReleaseSends takes all HoldSends back and carries out what was held.
func (k *Kernel) ReleaseSends() {
	k.mu.Lock()
	defer k.mu.Unlock()
	clear(k.faults.held)
	for _, o := range k.objects {
		if q, ok := o.(*qp); ok {
			k.work(q, math.MaxInt)
		}
	}
}

// CompleteSends carries out so many held requests of a queue pair.
func (k *Kernel) CompleteSends(qpn uint32, n int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q := k.qpByNumber(qpn); q != nil {
		held := k.faults.held
		k.faults.held = nil
		k.work(q, n)
		k.faults.held = held
	}
}

// holds reports whether a request waits: for ReleaseSends, or for ever because
// reads were agreed on none, which soft-RoCE's requester waits for
// (check_init_depth).
func (k *Kernel) holds(q *qp, w *abi.RXESendWQE) bool {
	if k.faults.held[0] || k.faults.held[q.qpn] {
		return true
	}
	return reads(abi.IBUverbsWROpcode(w.WR.Opcode)) && q.attr.DestQPNum != 0 && q.attr.MaxRdAtomic == 0
}

// Queued returns how many requests wait in the send queue of a queue pair.
func (k *Kernel) Queued(qpn uint32) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q := k.qpByNumber(qpn); q != nil && q.sq != nil {
		return int(q.sq.count())
	}
	return 0
}

// BreakQP puts a queue pair into ERROR and flushes what is posted, without an
// event and without a completion that tells why.
func (k *Kernel) BreakQP(qpn uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q := k.qpByNumber(qpn); q != nil {
		k.breakQP(q)
	}
}

// RaiseQP raises an asynchronous event of the queue pair with a number.
func (k *Kernel) RaiseQP(qpn uint32, kind abi.IBEventType) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q := k.qpByNumber(qpn); q != nil {
		k.raise(q.user, kind)
	}
}

// RaiseCQ raises an asynchronous event of the completion queue with the given
// handle; RaisePort one of the port.
func (k *Kernel) RaiseCQ(handle uint32, kind abi.IBEventType) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q, ok := k.objects[handle].(*cq); ok {
		k.raise(q.user, kind)
	}
}

// RaisePort raises an asynchronous event of a port.
func (k *Kernel) RaisePort(port int, kind abi.IBEventType) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.raise(uint64(port), kind)
}

// PortDown takes the one port down: QUERY_PORT says so, PORT_ERR is raised, and
// the next request of each queue pair fails with status. Linux 6.12 and 7.3 flush
// (abi.IB_WC_WR_FLUSH_ERR), 5.10 and 6.1 say abi.IB_WC_LOC_PROT_ERR.
func (k *Kernel) PortDown(status abi.IBWCStatus) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults.portDown, k.faults.downStatus = true, status
	k.raise(1, abi.IB_EVENT_PORT_ERR)
}

// PortUp takes PortDown back.
func (k *Kernel) PortUp() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults.portDown = false
	k.raise(1, abi.IB_EVENT_PORT_ACTIVE)
}

func (k *Kernel) raise(element uint64, kind abi.IBEventType) {
	for f := range k.files {
		if f.kind == asyncFile {
			f.push(event{element: element, kind: uint32(kind)})
		}
	}
}

// QPAttr tells what a queue pair was set to, as QUERY_QP does.
func (k *Kernel) QPAttr(qpn uint32) abi.IBUverbsQueryQPResp {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q := k.qpByNumber(qpn); q != nil {
		return q.attributes()
	}
	return abi.IBUverbsQueryQPResp{}
}

// RateLimit tells the limit that a queue pair was given, which no query does.
func (k *Kernel) RateLimit(qpn uint32) uint32 {
	k.mu.Lock()
	defer k.mu.Unlock()
	if q := k.qpByNumber(qpn); q != nil {
		return q.rate
	}
	return 0
}

// SetPort is PortDown and PortUp of a kernel that raises no event and carries on
// with requests.
func (k *Kernel) SetPort(up bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults.portDown, k.faults.downStatus = !up, abi.IB_WC_SUCCESS
}

// CompleteRecv completes the oldest receive of a queue pair with a failure, which
// puts it into ERROR.
func (k *Kernel) CompleteRecv(qpn uint32, status abi.IBWCStatus) {
	k.mu.Lock()
	defer k.mu.Unlock()
	q := k.qpByNumber(qpn)
	k.takeRecv(q, status)
	k.breakQP(q)
}

// RefuseNotify makes the next n REQ_NOTIFY_CQ fail with errno.
func (k *Kernel) RefuseNotify(n int, errno syscall.Errno) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.faults.refusals = refusals{errno, n}
}

// NotifyRefusals returns how many refusals of RefuseNotify are left.
func (k *Kernel) NotifyRefusals() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.faults.refusals.left
}

// Files names the files that are open.
func (k *Kernel) Files() (names []string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for f := range k.files {
		names = append(names, f.name)
	}
	return names
}
