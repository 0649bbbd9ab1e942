package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// An Attachment makes a datagram queue pair receive what is sent to a
// multicast group. It must be closed before the queue pair. All methods are
// safe for concurrent use.
type Attachment struct {
	life life
	qp   *QP
	gid  GID
	lid  uint16
}

var (
	cmdAttachMcast = writeCmd{name: "ATTACH_MCAST", num: uint32(abi.IB_USER_VERBS_CMD_ATTACH_MCAST),
		in: size[abi.IBUverbsAttachMcast]()}
	cmdDetachMcast = writeCmd{name: "DETACH_MCAST", num: uint32(abi.IB_USER_VERBS_CMD_DETACH_MCAST),
		in: size[abi.IBUverbsDetachMcast]()}
)

// AttachMulticast attaches a datagram queue pair to a group (ATTACH_MCAST). gid
// and lid are those of the group; the LID has a meaning on InfiniBand only.
// Joining the group, so that the network delivers it, is the connection
// manager's part (cm.ID.JoinMulticast). A second attachment to the same group
// changes nothing, and the first of both that is closed ends it.
//
// The error is an *[Error], with syscall.EINVAL when gid is not that of a group
// or the queue pair is not for datagrams.
func (qp *QP) AttachMulticast(gid GID, lid uint16) (*Attachment, error) {
	a := &Attachment{qp: qp, gid: gid, lid: lid}
	name := fmt.Sprintf("attachment of %s to %v", qp.life.name, gid.Addr())
	if err := a.life.begin(qp.c.dev.Name, name, &qp.life); err != nil {
		return nil, err
	}
	if err := a.attach(); err != nil {
		a.life.abandon()
		return nil, err
	}
	return a, nil
}

func (a *Attachment) attach() error {
	c := a.qp.c
	w, err := newWrite(&cmdAttachMcast, nil, 0)
	if err != nil {
		return c.fail(cmdAttachMcast.name, a.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsDetachMcast](w)
	req.GID, req.QPHandle, req.Mlid = a.gid, a.qp.handle, a.lid
	return c.write(w, a.life.name)
}

// QP returns the queue pair.
func (a *Attachment) QP() *QP { return a.qp }

// GID returns the group's GID.
func (a *Attachment) GID() GID { return a.gid }

// String returns queue pair and group.
func (a *Attachment) String() string { return a.life.name }

// Close detaches the queue pair from the group (DETACH_MCAST). It may be called
// more than once and from any goroutine.
func (a *Attachment) Close() error { return a.life.close(a.detach, nil) }

func (a *Attachment) detach() error {
	c := a.qp.c
	w, err := newWrite(&cmdDetachMcast, nil, 0)
	if err != nil {
		return c.fail(cmdDetachMcast.name, a.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsDetachMcast](w)
	req.GID, req.QPHandle, req.Mlid = a.gid, a.qp.handle, a.lid
	return destroyed(c.write(w, a.life.name))
}
