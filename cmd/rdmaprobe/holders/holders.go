// Package holders finds out who holds RDMA objects: RDMA netlink says which
// process made each, /proc says what that process is.
package holders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"

	"github.com/purerdma/rdma/internal/rdmanl"
)

// A Device is one RDMA device and who uses it.
type Device struct {
	Index int
	Name  string
	// Totals are the kernel's counts of all objects by kind, those included
	// that are nobody's here.
	Totals map[string]uint64
	// Unknown are the kinds that this kernel does not list.
	Unknown []string
	Holders []Holder
}

// A Holder is a process or a part of the kernel with its objects on one
// device.
type Holder struct {
	Process
	Kernel string // the kernel module; else empty

	Contexts, PDs, CQs, QPs, SRQs, MRs, CMIDs int

	// Memory is the bytes of all memory regions. What several of them cover
	// counts several times.
	Memory uint64

	Queues []QP
	IDs    []CMID
}

// A QP is one queue pair.
type QP struct {
	Number, Remote uint32
	Port           uint32
	Type, State    string
}

// A CMID is one connection manager ID.
type CMID struct {
	State        string
	PortSpace    string
	Source, Dest netip.AddrPort // invalid when not set
	QPNum        uint32
}

// lister is what is asked of RDMA netlink.
type lister interface {
	Devices(ctx context.Context) ([]rdmanl.Device, error)
	Resources(ctx context.Context, index int) (map[string]uint64, error)
	Contexts(ctx context.Context, index int) ([]rdmanl.Context, error)
	Objects(ctx context.Context, index int, kind rdmanl.Kind) ([]rdmanl.Object, error)
	QPs(ctx context.Context, index int) ([]rdmanl.QP, error)
	CMIDs(ctx context.Context, index int) ([]rdmanl.CMID, error)
}

// List asks RDMA netlink and /proc. Without module ib_core the error matches
// EPROTONOSUPPORT, on systems other than Linux errors.ErrUnsupported.
func List(ctx context.Context) ([]Device, error) {
	c, err := rdmanl.Open()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return list(ctx, c, Proc{Root: "/proc"})
}

func list(ctx context.Context, c lister, proc Proc) ([]Device, error) {
	devices, err := c.Devices(ctx)
	if err != nil {
		return nil, err
	}
	out := []Device{}
	for _, d := range devices {
		g := gathering{lister: c, proc: proc, holders: map[owner]*Holder{}, groups: map[uint32]uint32{},
			device: Device{Index: int(d.Index), Name: d.Name, Unknown: []string{}}}
		if err := g.all(ctx); err != nil {
			if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENODEV) {
				continue // removed meanwhile
			}
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
		out = append(out, g.device)
	}
	return out, nil
}

// owner is what an object says of who made it.
type owner struct {
	pid    uint32
	kernel string
}

// gathering is the search on one device.
type gathering struct {
	lister
	proc    Proc
	device  Device
	holders map[owner]*Holder
	groups  map[uint32]uint32 // the process of each thread
}

func (g *gathering) all(ctx context.Context) (err error) {
	index := g.device.Index
	if g.device.Totals, err = g.Resources(ctx, index); err != nil {
		return err
	}
	contexts, err := g.Contexts(ctx, index)
	if err := g.known("ctx", err); err != nil {
		return err
	}
	for _, x := range contexts {
		g.of(x.Owner).Contexts++
	}
	if err := g.objects(ctx); err != nil {
		return err
	}
	if err := g.queues(ctx); err != nil {
		return err
	}
	for _, h := range g.holders {
		g.device.Holders = append(g.device.Holders, *h)
	}
	slices.SortFunc(g.device.Holders, func(a, b Holder) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.Kernel, b.Kernel))
	})
	return nil
}

// known drops the error of a kind that this kernel does not list, and notes
// the kind.
func (g *gathering) known(kind string, err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EOPNOTSUPP) {
		g.device.Unknown = append(g.device.Unknown, kind)
		return nil
	}
	return err
}

func (g *gathering) objects(ctx context.Context) error {
	for _, k := range []struct {
		kind rdmanl.Kind
		note func(*Holder, rdmanl.Object)
	}{
		{rdmanl.KindPD, func(h *Holder, _ rdmanl.Object) { h.PDs++ }},
		{rdmanl.KindCQ, func(h *Holder, _ rdmanl.Object) { h.CQs++ }},
		{rdmanl.KindSRQ, func(h *Holder, _ rdmanl.Object) { h.SRQs++ }},
		{rdmanl.KindMR, func(h *Holder, o rdmanl.Object) { h.MRs++; h.Memory += o.Length }},
	} {
		list, err := g.Objects(ctx, g.device.Index, k.kind)
		if err := g.known(string(k.kind), err); err != nil {
			return err
		}
		for _, o := range list {
			k.note(g.of(o.Owner), o)
		}
	}
	return nil
}

func (g *gathering) queues(ctx context.Context) error {
	qps, err := g.QPs(ctx, g.device.Index)
	if err := g.known("qp", err); err != nil {
		return err
	}
	for _, q := range qps {
		h := g.of(q.Owner)
		h.QPs++
		h.Queues = append(h.Queues, QP{Number: q.Number, Remote: q.RemoteNumber, Port: q.Port,
			Type: qpType(q.Type), State: qpState(q.State)})
	}
	ids, err := g.CMIDs(ctx, g.device.Index)
	if err := g.known("cm_id", err); err != nil {
		return err
	}
	for _, id := range ids {
		h := g.of(id.Owner)
		h.CMIDs++
		h.IDs = append(h.IDs, CMID{State: idState(id.State), PortSpace: portSpace(id.PortSpace),
			Source: id.Source, Dest: id.Dst, QPNum: id.QPNumber})
	}
	return nil
}

// process returns the process of a thread: what the kernel reports is the
// thread that made the object (rdma_restrack_attach_task), and Go programs, for
// instance, have many.
func (g *gathering) process(thread uint32) uint32 {
	if thread == 0 {
		return 0
	}
	pid, known := g.groups[thread]
	if !known {
		pid = uint32(g.proc.Leader(int(thread)))
		g.groups[thread] = pid
	}
	return pid
}

func (g *gathering) of(o rdmanl.Owner) *Holder {
	key := owner{g.process(o.PID), o.KernelName}
	h := g.holders[key]
	if h == nil {
		h = &Holder{Kernel: o.KernelName}
		if key.pid != 0 {
			h.Process = g.proc.Process(int(key.pid))
		}
		g.holders[key] = h
	}
	return h
}
