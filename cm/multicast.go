package cm

import (
	"context"
	"net"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A Group is one membership of a datagram ID in a multicast group. All methods
// are safe for concurrent use.
type Group struct {
	id   *ID
	uid  uint64 // of the group's events
	addr ucma.Sockaddr

	leaving sync.Mutex // held by Leave, which happens once
	left    bool

	mu     sync.Mutex
	handle uint32
	param  ucma.UDParam
	ended  chan struct{}
	err    error // why ended is closed; set before
}

// A JoinOptions says how to join a group. A nil pointer means all defaults.
type JoinOptions struct {
	// SendOnly joins as a member that sends and receives nothing: no queue
	// pair needs to be attached, and the network does not deliver the group
	// here (RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER).
	SendOnly bool
}

func (o *JoinOptions) flags() uint16 {
	if o != nil && o.SendOnly {
		return abi.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER
	}
	return abi.RDMA_MC_JOIN_FLAG_FULLMEMBER
}

// JoinMulticast joins the group addr, whose port has no meaning, and returns
// when the membership exists (rdma_join_multicast, rdma_join_multicast_ex;
// kernel command JOIN_MCAST). The ID is of a datagram service and bound to an
// address of a device, or its address is resolved; else the error matches
// syscall.EINVAL. A group may be joined more than once. The queue pair that
// shall receive must be attached to the group, see [Group.MGID].
//
// Kernels cannot join IPv6 groups over RoCE: the error matches
// errors.ErrUnsupported.
func (id *ID) JoinMulticast(ctx context.Context, addr ucma.Sockaddr, opts *JoinOptions) (*Group, error) {
	if err := id.canWait(ctx); err != nil {
		return nil, err
	}
	g, err := id.StartJoinMulticast(addr, opts)
	if err != nil {
		return nil, err
	}
	ev, err := id.wait(ctx, func(ev *ucma.Event) bool { return ev.UID == g.uid || isRemoval(ev) })
	if err == nil {
		err = stepError(stepJoin, eventError(ev, abi.RDMA_CM_EVENT_MULTICAST_JOIN))
	}
	if err != nil {
		_ = g.Leave()
		return nil, err
	}
	return g, nil
}

// StartJoinMulticast begins to join a group. The outcome is the event
// MULTICAST_JOIN or MULTICAST_ERROR with this group; after an error the group
// must still be left.
func (id *ID) StartJoinMulticast(addr ucma.Sockaddr, opts *JoinOptions) (*Group, error) {
	id.gate.RLock()
	defer id.gate.RUnlock()
	if id.closed.Load() {
		return nil, errClosedID
	}
	g := &Group{id: id, uid: lastUID.Add(1), addr: addr, ended: make(chan struct{})}
	// Before the command, whose event may be faster than its return.
	id.mu.Lock()
	if id.groups == nil {
		id.groups = make(map[uint64]*Group)
	}
	id.groups[g.uid] = g
	id.mu.Unlock()
	id.channel.add(g.uid, id)
	mc, err := id.channel.ch.JoinMulticast(id.handle, g.uid, addr, opts.flags())
	if err != nil {
		id.dropGroup(g)
		return nil, stepError(stepJoin, removalError(err))
	}
	g.mu.Lock()
	g.handle = mc
	g.mu.Unlock()
	return g, nil
}

// dropGroup ends the routing of a group's events and forgets those that wait.
// The caller holds gate.
func (id *ID) dropGroup(g *Group) {
	id.channel.remove(g.uid)
	id.mu.Lock()
	delete(id.groups, g.uid)
	id.events.removeGroup(g)
	id.mu.Unlock()
	if r := id.channel.raw; r != nil {
		r.mu.Lock()
		r.events.removeGroup(g)
		r.mu.Unlock()
	}
}

func (q *queue) removeGroup(g *Group) {
	q.removeAll(func(e *entry) bool { return e.group == g })
}

// Leave ends the membership (rdma_leave_multicast; kernel command
// LEAVE_MCAST). Closing the ID does so too. It may be called more than once.
func (g *Group) Leave() error {
	g.leaving.Lock()
	defer g.leaving.Unlock()
	g.id.gate.RLock()
	defer g.id.gate.RUnlock()
	if g.left || g.id.closed.Load() {
		return nil
	}
	g.left = true
	g.mu.Lock()
	handle := g.handle
	g.mu.Unlock()
	_, err := g.id.channel.ch.LeaveMulticast(handle)
	g.id.dropGroup(g)
	g.end(net.ErrClosed)
	return err
}

// see takes an event of the group.
func (g *Group) see(ev *ucma.Event) {
	switch ev.Type {
	case abi.RDMA_CM_EVENT_MULTICAST_JOIN:
		g.mu.Lock()
		g.handle, g.param = ev.ID, ev.UD()
		g.mu.Unlock()
	case abi.RDMA_CM_EVENT_MULTICAST_ERROR:
		g.end(eventError(ev, noEvent))
	}
}

// end makes err the reason for the end, unless there is one.
func (g *Group) end(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = err
		close(g.ended)
	}
}

// ID returns the ID that joined.
func (g *Group) ID() *ID { return g.id }

// Addr returns the address that was joined.
func (g *Group) Addr() ucma.Sockaddr { return g.addr }

// Param returns what MULTICAST_JOIN brought: the address attributes, Q_Key and
// 0xffffff, the queue pair number of all groups. Zero before.
func (g *Group) Param() ucma.UDParam {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.param
}

// AHAttr returns the path to the group, for uverbs.PD.CreateAH; zero before
// MULTICAST_JOIN.
func (g *Group) AHAttr() uverbs.AHAttr {
	p := g.Param()
	return uverbs.AHAttrFromCM(&p.AHAttr)
}

// MGID and MLID are what a queue pair is attached to in order to receive; the
// LID has a meaning on InfiniBand only.
func (g *Group) MGID() uverbs.GID { return g.AHAttr().DGID }

// MLID is described with MGID.
func (g *Group) MLID() uint16 { return g.AHAttr().DLID }

// Done returns a channel that is closed when the membership has ended: the
// group was left or lost (MULTICAST_ERROR), or the ID closed. Err then says
// why. A group that was lost must still be left.
func (g *Group) Done() <-chan struct{} { return g.ended }

// Err returns nil while the membership lives or comes about, and then what
// ended it; after Leave it matches net.ErrClosed.
func (g *Group) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

func isRemoval(ev *ucma.Event) bool { return ev.Type == abi.RDMA_CM_EVENT_DEVICE_REMOVAL }
