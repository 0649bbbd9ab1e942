package uverbs

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// MulticastQPN is the queue pair number to which datagrams for a multicast
// group are sent (SendWR.RemoteQPN).
const MulticastQPN = 0xffffff

// group is a multicast group as the kernel tells them apart.
type group struct {
	gid GID
	lid uint16
}

// String returns address and, on InfiniBand, LID.
func (g group) String() string {
	if g.lid != 0 {
		return fmt.Sprintf("%v, LID %#x", g.gid.Addr(), g.lid)
	}
	return g.gid.Addr().String()
}

// AttachMulticast makes a datagram queue pair receive what is sent to a
// multicast group (ATTACH_MCAST), until DetachMulticast or Close. On RoCE gid is
// the group's IP address ([GIDFromAddr]) and lid is 0. Attaching twice is
// attaching once.
//
// It concerns the device only. Joining the group, so that the network delivers
// it (IGMP, MLD, subnet manager), is the connection manager's part.
//
// The error is an *[Error], with syscall.EINVAL when gid is not a multicast
// address or the queue pair has another type.
func (qp *QP) AttachMulticast(gid GID, lid uint16) error {
	return qp.changeGroup(&cmdAttachMcast, group{gid, lid}, func(g group) { qp.groups[g] = struct{}{} })
}

// DetachMulticast takes AttachMulticast back (DETACH_MCAST). The error is an
// *[Error], with syscall.EINVAL when the queue pair is not attached.
func (qp *QP) DetachMulticast(gid GID, lid uint16) error {
	return qp.changeGroup(&cmdDetachMcast, group{gid, lid}, func(g group) { delete(qp.groups, g) })
}

func (qp *QP) changeGroup(m *writeCmd, g group, done func(group)) error {
	if err := qp.life.enter(); err != nil {
		return err
	}
	defer qp.life.leave()
	qp.groupMu.Lock()
	defer qp.groupMu.Unlock()
	if qp.groups == nil {
		qp.groups = make(map[group]struct{})
	}
	err := qp.groupCommand(m, g)
	if err == nil {
		done(g)
	}
	return err
}

// groupCommand issues ATTACH_MCAST or DETACH_MCAST, whose structs are alike.
func (qp *QP) groupCommand(m *writeCmd, g group) error {
	what := qp.life.name + ", group " + g.String()
	w, err := newWrite(m, nil, 0)
	if err != nil {
		return qp.c.fail(m.name, what, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsAttachMcast](w)
	req.GID, req.QPHandle, req.Mlid = g.gid, qp.handle, g.lid
	return qp.c.write(w, what)
}

// leaveGroups detaches what is left before the queue pair is destroyed; the
// kernel refuses to destroy it else (uverbs_free_qp).
func (qp *QP) leaveGroups() error {
	qp.groupMu.Lock()
	defer qp.groupMu.Unlock()
	var errs []error
	for g := range qp.groups {
		if err := qp.c.destroyed(qp.groupCommand(&cmdDetachMcast, g)); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(qp.groups, g)
	}
	return errors.Join(errs...)
}
