package fakecm

import (
	"net/netip"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// Bytes of private data that each message carries on the wire. The receiver
// always sees all of them.
const (
	requestData = 56
	replyData   = 196
	rejectData  = 148
)

// padded returns parameters as the other end sees them: private data of the
// full length, and the two read limits exchanged.
func padded(p *abi.RDMAUCMConnParam, size uint8) *abi.RDMAUCMConnParam {
	var r abi.RDMAUCMConnParam
	if p != nil {
		r = *p
		clear(r.PrivateData[p.PrivateDataLen:])
		r.ResponderResources, r.InitiatorDepth = p.InitiatorDepth, p.ResponderResources
		r.RetryCount, r.RnrRetryCount = min(p.RetryCount, 7), min(p.RnrRetryCount, 7)
	}
	r.PrivateDataLen, r.Valid = size, 0
	return &r
}

func (f *file) listen(q *abi.RDMAUCMListen, _ uint16) error {
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	if i.state == idle {
		if err := i.bindTo(addr{ip: netip.IPv4Unspecified()}); err != nil {
			return err
		}
	}
	if i.state != bound {
		return syscall.EINVAL
	}
	const maxBacklog = 1024
	i.backlog = int(q.Backlog)
	if q.Backlog == 0 || q.Backlog > maxBacklog {
		i.backlog = maxBacklog
	}
	i.state = listening
	return nil
}

// findListener returns the listener that a connect to a reaches.
func (k *Kernel) findListener(a addr, ps abi.RDMAUCMPortSpace) *id {
	for _, i := range k.ids {
		if i.state != listening || i.src.port != a.port || i.ps != ps {
			continue
		}
		if i.src.ip == a.ip || i.src.wildcard() && (i.src.ip.Is6() && !k.IWARP || i.src.ip.Is4() == a.ip.Is4()) {
			return i
		}
	}
	return nil
}

func (f *file) connect(q *abi.RDMAUCMConnect, _ uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	if i.state != routeResolved || q.ConnParam.Valid != 1 {
		return syscall.EINVAL
	}
	if i.datagram() {
		return f.lookUp(i, q)
	}
	if q.ConnParam.PrivateDataLen > requestData {
		return syscall.EINVAL
	}
	i.state, i.sentRetries = connecting, q.ConnParam.RetryCount
	if f.k.muted[abi.RDMA_USER_CM_CMD_CONNECT] {
		return nil
	}
	l := f.k.findListener(i.dst, i.ps)
	if l == nil && f.k.IWARP {
		i.state = routeResolved
		return syscall.ECONNREFUSED // by TCP, in the command
	}
	if l == nil {
		i.event(abi.RDMA_CM_EVENT_REJECTED, int32(abi.IB_CM_REJ_INVALID_SERVICE_ID), padded(nil, rejectData))
		return nil
	}
	if l.unfetched >= l.backlog {
		return nil // dropped without notice; this fake does not try again
	}
	l.request(i, &q.ConnParam, q.ECE)
	return nil
}

// request makes the ID of an incoming connection and reports it to the
// listener.
func (l *id) request(from *id, param *abi.RDMAUCMConnParam, ece abi.RDMAUCMECE) {
	r := l.k.newID(l.file)
	r.state, r.passive, r.listener, r.ps, r.qpType = connecting, true, l, l.ps, l.qpType
	r.src, r.dst = addr{from.dst.ip, l.src.port}, from.src
	r.dev = l.k.deviceOf(from.dst.ip)
	r.param = *l.k.seen(param, requestData)
	r.peer, from.peer = from, r
	ev := abi.RDMAUCMEventResp{UID: l.uid, ID: r.handle, Event: uint32(abi.RDMA_CM_EVENT_CONNECT_REQUEST)}
	if l.datagram() {
		udData(ev.ParamUD(), param.PrivateData[:param.PrivateDataLen], lookupData)
	} else {
		*ev.ParamConn() = r.param
	}
	ev.ECE = ece
	l.unfetched++
	l.file.push(queued{ev: ev, id: l, request: r})
}

// accept sends the answer, or without parameters the confirmation.
func (f *file) accept(q *abi.RDMAUCMAccept, _ uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	p := i.peer
	if i.datagram() {
		err := i.found(q)
		if err != nil {
			i.leavePeer(0)
		}
		return err
	}
	if q.ConnParam.Valid == 0 {
		if i.passive || i.state != connecting || !i.accepted || p == nil {
			return syscall.EINVAL
		}
		i.state = connected
		if !f.k.muted[abi.RDMA_USER_CM_CMD_ACCEPT] {
			p.state = connected
			p.event(abi.RDMA_CM_EVENT_ESTABLISHED, 0, nil)
		}
		return nil
	}
	if !i.passive || i.state != connecting || i.accepted || p == nil || q.ConnParam.PrivateDataLen > replyData {
		i.leavePeer(abi.IB_CM_REJ_CONSUMER_DEFINED) // rdma_accept rejects when it fails
		return syscall.EINVAL
	}
	i.uid, i.accepted = q.UID, true
	if f.k.IWARP {
		i.establishIWARP(&q.ConnParam)
		return nil
	}
	if f.k.muted[abi.RDMA_USER_CM_CMD_ACCEPT] {
		return nil
	}
	p.accepted = true
	p.param = *padded(&q.ConnParam, replyData)
	ev := abi.RDMAUCMEventResp{UID: p.uid, ID: p.handle, Event: uint32(abi.RDMA_CM_EVENT_CONNECT_RESPONSE), ECE: q.ECE}
	*ev.ParamConn() = p.param
	p.file.push(queued{ev: ev, id: p})
	return nil
}

func (f *file) reject(q *abi.RDMAUCMReject, _ uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	if i.state != connecting || i.peer == nil || q.PrivateDataLen > rejectData {
		return syscall.EINVAL
	}
	if i.datagram() {
		return i.notFound(q.PrivateData[:q.PrivateDataLen])
	}
	reason := int32(q.Reason)
	switch abi.CMRejectReason(q.Reason) {
	case 0:
		reason = int32(abi.IB_CM_REJ_CONSUMER_DEFINED)
	case abi.IB_CM_REJ_CONSUMER_DEFINED, abi.IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED:
	default:
		return syscall.EINVAL
	}
	p := i.peer
	i.peer, p.peer = nil, nil
	var param abi.RDMAUCMConnParam
	copy(param.PrivateData[:], q.PrivateData[:q.PrivateDataLen])
	param.PrivateDataLen = q.PrivateDataLen
	if f.k.IWARP {
		reason = int32(abi.IWRejectReset)
	}
	p.event(abi.RDMA_CM_EVENT_REJECTED, reason, f.k.seen(&param, rejectData))
	return nil
}

// disconnect sends DREQ, or answers the peer's. Its own DISCONNECTED comes
// when the peer has left too.
func (f *file) disconnect(q *abi.RDMAUCMDisconnect, _ uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	if i.state != connected && i.state != disconnected {
		return syscall.EINVAL
	}
	i.state, i.left = disconnected, true
	if f.k.IWARP {
		i.tell() // TCP needs no answer
	}
	p := i.peer
	if p == nil || f.k.muted[abi.RDMA_USER_CM_CMD_DISCONNECT] {
		return nil
	}
	p.tell()
	if p.left {
		i.tell()
	}
	return nil
}

// notify: data arrived before the confirmation.
func (f *file) notify(q *abi.RDMAUCMNotify, _ uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	switch abi.IBEventType(q.Event) {
	case abi.IB_EVENT_COMM_EST:
	case abi.IB_EVENT_PATH_MIG:
		return nil
	default:
		return syscall.EINVAL
	}
	switch {
	case i.state == connected:
		return syscall.EISCONN
	case i.state != connecting || !i.accepted:
		return syscall.EINVAL
	}
	i.state = connected
	i.event(abi.RDMA_CM_EVENT_ESTABLISHED, 0, nil)
	return nil
}

// initQPAttr gives the attributes of each transition as ib_cm_init_qp_attr
// does: RTR and RTS once the peer's parameters are known.
func (f *file) initQPAttr(q *abi.RDMAUCMInitQPAttr, out uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	if i.dev == nil {
		return syscall.EINVAL
	}
	a := abi.IBUverbsQPAttr{QPState: q.QPState}
	var mask abi.IBQPAttrMask
	switch s := abi.IBQPState(q.QPState); {
	case i.datagram():
		a.PortNum, a.QKey = 1, defaultQKey
		mask = abi.IB_QP_STATE | abi.IB_QP_PKEY_INDEX | abi.IB_QP_PORT | abi.IB_QP_QKEY
	case s == abi.IB_QPS_INIT:
		a.PortNum = 1
		mask = abi.IB_QP_STATE | abi.IB_QP_PKEY_INDEX | abi.IB_QP_PORT | abi.IB_QP_ACCESS_FLAGS
	case i.state < connecting || !i.passive && !i.accepted:
		return syscall.EINVAL
	case s == abi.IB_QPS_RTR:
		a.DestQPNum, a.PathMTU, a.RQPSN = i.param.QPNum&0xffffff, uint32(abi.IB_MTU_1024), 0x123
		a.AHAttr = i.path()
		mask = abi.IB_QP_STATE | abi.IB_QP_AV | abi.IB_QP_PATH_MTU | abi.IB_QP_DEST_QPN | abi.IB_QP_RQ_PSN |
			abi.IB_QP_MAX_DEST_RD_ATOMIC | abi.IB_QP_MIN_RNR_TIMER
	case s == abi.IB_QPS_RTS:
		a.SQPSN, a.Timeout, a.RetryCnt, a.RnrRetry = 0x456, i.ackTimeout(), i.retries(), i.param.RnrRetryCount
		mask = abi.IB_QP_STATE | abi.IB_QP_SQ_PSN | abi.IB_QP_TIMEOUT | abi.IB_QP_RETRY_CNT | abi.IB_QP_RNR_RETRY |
			abi.IB_QP_MAX_QP_RD_ATOMIC
	default:
		return syscall.EINVAL
	}
	a.QPAttrMask = uint32(mask)
	return answer(q.Response, out, a)
}

// path is the way to the peer, with the type of service of the ID's traffic.
func (i *id) path() abi.IBUverbsAHAttr {
	a := abi.IBUverbsAHAttr{IsGlobal: 1, PortNum: 1, GRH: abi.IBUverbsGlobalRoute{HopLimit: 64, TrafficClass: i.tos}}
	a.GRH.Dgid = i.dst.ip.As16()
	return a
}

// retries is the count of the request, on both ends (cm_init_qp_rts_attr).
func (i *id) retries() uint8 {
	if i.passive {
		return i.param.RetryCount
	}
	return min(i.sentRetries, 7)
}

// ackTimeout is the option's, or what the kernel takes for soft-RoCE.
func (i *id) ackTimeout() uint8 {
	if i.ack != 0 {
		return i.ack
	}
	return 18
}
