package fakecm

import (
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// state is enum rdma_cm_state, as far as it matters to user space.
type state int

const (
	idle state = iota
	bound
	addrQuery
	addrResolved
	routeQuery
	routeResolved
	connecting // also a request before and after its accept
	connected
	disconnected
	listening
)

// An id is an rdma_cm_id. Its fields are guarded by the kernel's mu.
type id struct {
	k        *Kernel
	file     *file
	handle   uint32
	uid      uint64
	state    state
	src, dst addr
	dev      *Device
	ps       abi.RDMAUCMPortSpace
	qpType   uint8
	removed  bool
	tos, ack uint8 // options

	sentRetries uint8 // of the request

	reported uint32 // events fetched

	backlog, unfetched int // of a listener
	listener           *id // of a request: counts in its backlog until fetched

	passive  bool
	accepted bool // passive: the answer was sent; active: the answer has arrived
	peer     *id
	param    abi.RDMAUCMConnParam // what the peer said last
	told     bool                 // DISCONNECTED was reported
	left     bool                 // has sent its own DREQ
}

func (f *file) createID(q *abi.RDMAUCMCreateID, out uint16) error {
	switch abi.RDMAUCMPortSpace(q.Ps) {
	case abi.RDMA_PS_TCP, abi.RDMA_PS_UDP, abi.RDMA_PS_IPOIB, abi.RDMA_PS_IB:
	default:
		return syscall.EINVAL
	}
	i := f.k.newID(f)
	i.uid, i.ps, i.qpType = q.UID, abi.RDMAUCMPortSpace(q.Ps), q.QPType
	return answer(q.Response, out, abi.RDMAUCMCreateIDResp{ID: i.handle})
}

// newID takes the smallest free handle, as xa_alloc does.
func (k *Kernel) newID(f *file) *id {
	i := &id{k: k, file: f}
	for k.ids[i.handle] != nil {
		i.handle++
	}
	k.ids[i.handle] = i
	return i
}

func (f *file) destroyID(q *abi.RDMAUCMDestroyID, out uint16) error {
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	i.destroy()
	return answer(q.Response, out, abi.RDMAUCMDestroyIDResp{EventsReported: i.reported})
}

// destroy is rdma_destroy_id with what ucma does around it.
func (i *id) destroy() {
	if i.k.ids[i.handle] != i {
		return // a request that its listener took along
	}
	delete(i.k.ids, i.handle)
	for h, g := range i.k.groups {
		if g.id == i {
			delete(i.k.groups, h)
		}
	}
	i.dropEvents()
	if i.peer != nil {
		i.leavePeer(abi.IB_CM_REJ_CONSUMER_DEFINED)
	}
}

// dropEvents removes the ID's unfetched events, and destroys the requests that
// go with them.
func (i *id) dropEvents() {
	f := i.file
	var kept []queued
	var requests []*id
	for _, q := range f.queue {
		switch {
		case q.id != i:
			kept = append(kept, q)
		case q.request != nil:
			requests = append(requests, q.request)
		}
	}
	f.queue = kept
	for _, r := range requests {
		delete(i.k.ids, r.handle)
		r.leavePeer(abi.IB_CM_REJ_INVALID_SERVICE_ID)
	}
}

// leavePeer tells the other end that this one is gone, in the way that the
// state of the connection asks for.
func (i *id) leavePeer(reason abi.CMRejectReason) {
	p := i.peer
	if p == nil {
		return
	}
	i.peer = nil
	if i.state == connected || i.state == disconnected || p.state == connected {
		p.tell()
		p.peer = nil
		return
	}
	p.peer = nil
	if i.datagram() {
		if i.passive {
			p.udEvent(abi.RDMA_CM_EVENT_UNREACHABLE, int32(abi.IB_SIDR_REJECT), func(u *abi.RDMAUCMUDParam) { udData(u, nil, foundData) })
		}
		return // nobody tells the service
	}
	if reason == 0 {
		reason = abi.IB_CM_REJ_TIMEOUT
	}
	p.event(abi.RDMA_CM_EVENT_REJECTED, int32(reason), padded(nil, rejectData))
}

// tell reports the end of the connection, once.
func (i *id) tell() {
	if !i.told {
		i.told = true
		i.state = disconnected
		i.event(abi.RDMA_CM_EVENT_DISCONNECTED, 0, nil)
	}
}

// event queues an event. Before its accept a request has none
// (ucma_event_handler drops them for lack of a uid).
func (i *id) event(t abi.RDMACMEventType, status int32, param *abi.RDMAUCMConnParam) {
	if i.uid == 0 {
		return
	}
	ev := abi.RDMAUCMEventResp{UID: i.uid, ID: i.handle, Event: uint32(t), Status: uint32(status)}
	if param != nil {
		*ev.ParamConn() = *param
	}
	i.file.push(queued{ev: ev, id: i})
}

func (f *file) getEvent(q *abi.RDMAUCMGetEvent, out uint16) error {
	if len(f.queue) == 0 {
		return syscall.EAGAIN
	}
	e := f.queue[0]
	if err := answer(q.Response, out, e.ev); err != nil {
		return err
	}
	f.queue = f.queue[1:]
	if e.id != nil {
		e.id.reported++
	}
	if e.request != nil && e.id != nil {
		e.id.unfetched--
	}
	return nil
}

// migrate moves an ID and its events to this file.
func (f *file) migrate(q *abi.RDMAUCMMigrateID, out uint16) error {
	var from *file
	for o := range f.k.files {
		if o.fd == int(q.FD) {
			from = o
		}
	}
	if from == nil {
		return syscall.EINVAL
	}
	i, err := from.find(q.ID)
	if err != nil {
		return err
	}
	reported := i.reported
	var kept []queued
	for _, e := range from.queue {
		if e.id == i {
			f.queue = append(f.queue, e) // without waking anybody, as the kernel does
		} else {
			kept = append(kept, e)
		}
	}
	from.queue, i.file = kept, f
	return answer(q.Response, out, abi.RDMAUCMMigrateResp{EventsReported: reported})
}

func (f *file) setOption(q *abi.RDMAUCMSetOption, _ uint16) error {
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	if q.Level == abi.RDMA_OPTION_IB && q.Optname == abi.RDMA_OPTION_IB_PATH {
		if i.state != addrResolved || q.Optlen == 0 || q.Optlen%72 != 0 {
			return syscall.EINVAL
		}
		i.state = routeResolved
		i.event(abi.RDMA_CM_EVENT_ROUTE_RESOLVED, 0, nil)
		return nil
	}
	sizes := map[uint32]uint32{
		abi.RDMA_OPTION_ID_TOS: 1, abi.RDMA_OPTION_ID_REUSEADDR: 4, abi.RDMA_OPTION_ID_AFONLY: 4, abi.RDMA_OPTION_ID_ACK_TIMEOUT: 1,
	}
	size, ok := sizes[q.Optname]
	switch {
	case q.Level != abi.RDMA_OPTION_ID || !ok:
		return syscall.ENOSYS
	case q.Optlen != size:
		return syscall.EINVAL
	}
	value := append([]byte(nil), unsafe.Slice((*byte)(pointer(q.Optval)), int(q.Optlen))...)
	switch q.Optname {
	case abi.RDMA_OPTION_ID_TOS:
		i.tos = value[0]
	case abi.RDMA_OPTION_ID_ACK_TIMEOUT:
		i.ack = value[0]
	}
	f.k.options = append(f.k.options, Option{ID: q.ID, Level: q.Level, Name: q.Optname, Value: value})
	return nil
}

func (f *file) writeEvent(q *abi.RDMAUCMWriteCMEvent, _ uint16) error {
	if abi.RDMACMEventType(q.Event) != abi.RDMA_CM_EVENT_USER && abi.RDMACMEventType(q.Event) != abi.RDMA_CM_EVENT_INTERNAL {
		return syscall.EINVAL
	}
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	if i.uid == 0 {
		return syscall.EINVAL
	}
	ev := abi.RDMAUCMEventResp{UID: i.uid, ID: i.handle, Event: q.Event, Status: q.Status}
	*ev.ParamArg32() = *view[[2]uint32](bytesOf(q.ParamArg()))
	f.push(queued{ev: ev, id: i})
	return nil
}

func (f *file) resolveService(q *abi.RDMAUCMResolveIBService, _ uint16) error {
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	if i.dev == nil {
		return syscall.EINVAL
	}
	return syscall.EOPNOTSUPP // the devices here are RoCE
}
