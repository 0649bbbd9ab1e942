package fakecm

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// Bytes of private data of a datagram service's messages.
const (
	lookupData = 180
	foundData  = 136
)

// defaultQKey is RDMA_UDP_QKEY.
const defaultQKey = 0x01234567

// datagram reports whether the ID is of a datagram service.
func (i *id) datagram() bool {
	switch i.ps {
	case abi.RDMA_PS_UDP, abi.RDMA_PS_IPOIB:
		return true
	}
	return i.ps == abi.RDMA_PS_IB && i.qpType == uint8(abi.IB_UVERBS_QPT_UD)
}

// udEvent queues an event of a datagram service.
func (i *id) udEvent(t abi.RDMACMEventType, status int32, fill func(*abi.RDMAUCMUDParam)) {
	if i.uid == 0 {
		return
	}
	ev := abi.RDMAUCMEventResp{UID: i.uid, ID: i.handle, Event: uint32(t), Status: uint32(status)}
	fill(ev.ParamUD())
	i.file.push(queued{ev: ev, id: i})
}

// udData puts private data into an event, padded to size.
func udData(p *abi.RDMAUCMUDParam, data []byte, size uint8) {
	copy(p.PrivateData[:], data)
	p.PrivateDataLen = size
}

// lookUp is connect of a datagram service: the request goes to a listener, or
// the status says that there is none.
func (f *file) lookUp(i *id, q *abi.RDMAUCMConnect) error {
	if q.ConnParam.PrivateDataLen > lookupData {
		return syscall.EINVAL
	}
	i.state = connecting
	if f.k.muted[abi.RDMA_USER_CM_CMD_CONNECT] {
		return nil
	}
	l := f.k.findListener(i.dst, i.ps)
	if l == nil {
		i.udEvent(abi.RDMA_CM_EVENT_UNREACHABLE, int32(abi.IB_SIDR_UNSUPPORTED), func(p *abi.RDMAUCMUDParam) { udData(p, nil, foundData) })
		return nil
	}
	l.request(i, &q.ConnParam, q.ECE)
	return nil
}

// found is accept of a datagram service. There is no confirmation.
func (i *id) found(q *abi.RDMAUCMAccept) error {
	p := i.peer
	if !i.passive || i.accepted || p == nil || q.ConnParam.PrivateDataLen > foundData {
		return syscall.EINVAL
	}
	i.uid, i.accepted = q.UID, true
	p.peer, i.peer = nil, nil
	param := q.ConnParam
	p.udEvent(abi.RDMA_CM_EVENT_ESTABLISHED, 0, func(u *abi.RDMAUCMUDParam) {
		u.QPNum, u.QKey = param.QPNum, defaultQKey
		u.AHAttr.IsGlobal, u.AHAttr.PortNum = 1, 1
		u.AHAttr.GRH.Dgid = i.src.ip.As16()
		udData(u, param.PrivateData[:param.PrivateDataLen], foundData)
	})
	return nil
}

// notFound is reject of a datagram service.
func (i *id) notFound(data []byte) error {
	p := i.peer
	if len(data) > foundData {
		return syscall.EINVAL
	}
	p.peer, i.peer = nil, nil
	p.udEvent(abi.RDMA_CM_EVENT_UNREACHABLE, int32(abi.IB_SIDR_REJECT), func(u *abi.RDMAUCMUDParam) { udData(u, data, foundData) })
	return nil
}

// A group is a multicast membership.
type group struct {
	id  *id
	uid uint64
}

func (f *file) joinIP(q *abi.RDMAUCMJoinIPMcast, out uint16) error {
	return f.joinGroup(q.ID, q.UID, q.Response, bytesOf(&q.Addr), 0, out)
}

func (f *file) join(q *abi.RDMAUCMJoinMcast, out uint16) error {
	if q.JoinFlags >= abi.RDMA_MC_JOIN_FLAG_RESERVED {
		return syscall.EINVAL
	}
	return f.joinGroup(q.ID, q.UID, q.Response, q.Addr.Bytes(), int(q.AddrSize), out)
}

func (f *file) joinGroup(handle uint32, uid, response uint64, addr []byte, size int, out uint16) error {
	i, err := f.findAlive(handle)
	if err != nil {
		return err
	}
	a, err := parse(addr, size)
	if err != nil {
		return err
	}
	const enotsupp = syscall.Errno(524)
	switch {
	case i.dev == nil || !i.datagram() || i.state != bound && i.state != addrResolved:
		return syscall.EINVAL
	case a.ip.Is6():
		return enotsupp
	}
	var h uint32
	for f.k.groups[h] != nil {
		h++
	}
	f.k.groups[h] = &group{id: i, uid: uid}
	if !f.k.muted[abi.RDMA_USER_CM_CMD_JOIN_MCAST] {
		ev := abi.RDMAUCMEventResp{UID: uid, ID: h, Event: uint32(abi.RDMA_CM_EVENT_MULTICAST_JOIN)}
		u := ev.ParamUD()
		u.QPNum, u.QKey = 0xffffff, defaultQKey
		u.AHAttr.IsGlobal, u.AHAttr.PortNum = 1, 1
		u.AHAttr.GRH.Dgid = a.ip.As16()
		f.push(queued{id: i, ev: ev})
	}
	return answer(response, out, abi.RDMAUCMCreateIDResp{ID: h})
}

func (f *file) leave(q *abi.RDMAUCMDestroyID, out uint16) error {
	g := f.k.groups[q.ID]
	switch {
	case g == nil:
		return syscall.ENOENT
	case g.id.file != f:
		return syscall.EINVAL
	}
	delete(f.k.groups, q.ID)
	var kept []queued
	for _, e := range f.queue {
		if e.ev.UID != g.uid {
			kept = append(kept, e)
		}
	}
	f.queue = kept
	return answer(q.Response, out, abi.RDMAUCMDestroyIDResp{})
}

// LoseGroups reports MULTICAST_ERROR for all memberships of the ID with a
// handle.
func (k *Kernel) LoseGroups(handle uint32, status int32) {
	k.init()
	k.mu.Lock()
	defer k.mu.Unlock()
	for h, g := range k.groups {
		if g.id == k.ids[handle] {
			g.id.file.push(queued{id: g.id, ev: abi.RDMAUCMEventResp{
				UID: g.uid, ID: h, Event: uint32(abi.RDMA_CM_EVENT_MULTICAST_ERROR), Status: uint32(status),
			}})
		}
	}
}
