//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// phases is a client that takes all its connections through one step before
// the next step begins, with the calls that cmtime makes: one protection domain
// and completion queue for all, one queue pair for each.
type phases struct {
	ctx context.Context
	dst ucma.Sockaddr
	ch  *cm.EventChannel
	ids []*cm.ID
	qps []*uverbs.QP
	dev *uverbs.Context
	pd  *uverbs.PD
	cq  *uverbs.CQ
}

// The names of cmtime's steps.
var phaseNames = []string{"create id", "resolve addr", "resolve route", "create qp", "connect", "disconnect", "destroy"}

func runPhases(ctx context.Context, where netip.AddrPort, n int) (*result, error) {
	dst, err := ucma.SockaddrFrom(where)
	if err != nil {
		return nil, err
	}
	p := &phases{ctx: ctx, dst: dst, ids: make([]*cm.ID, n), qps: make([]*uverbs.QP, n)}
	defer p.close()
	// cmtime has its channel before it looks at the clock, too.
	if p.ch, err = cm.NewEventChannel(nil); err != nil {
		return nil, err
	}
	// Steps that wait for an answer run for all connections at once, others
	// one after the other, as in cmtime.
	steps := []struct {
		parallel int
		do       func(i int) error
	}{
		{1, p.create}, {n, p.resolveAddr}, {n, p.resolveRoute}, {1, p.createQP},
		{n, p.connect}, {n, p.disconnect}, {1, p.destroy},
	}
	r := &result{Conns: n}
	for i, s := range steps {
		if err := r.time(phaseNames[i], n, s.parallel, s.do); err != nil {
			return nil, fmt.Errorf("%s: %w", phaseNames[i], err)
		}
	}
	return r, nil
}

func (p *phases) create(i int) (err error) {
	p.ids[i], err = cm.NewID(&cm.IDOptions{Channel: p.ch})
	return err
}

func (p *phases) resolveAddr(i int) error {
	return p.ids[i].ResolveAddr(p.ctx, ucma.Sockaddr{}, p.dst)
}

func (p *phases) resolveRoute(i int) error { return p.ids[i].ResolveRoute(p.ctx) }

func (p *phases) createQP(i int) (err error) {
	if p.dev == nil {
		if err := p.open(p.ids[i]); err != nil {
			return err
		}
	}
	p.qps[i], err = p.pd.CreateQP(uverbs.QPConfig{
		SendCQ: p.cq, RecvCQ: p.cq, SignalAll: true,
		Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1},
	})
	if err != nil {
		return err
	}
	return p.to(i, abi.IB_QPS_INIT)
}

// open opens the device of an ID and makes what all connections share.
func (p *phases) open(id *cm.ID) error {
	route, err := id.Route()
	if err != nil {
		return err
	}
	dev, err := uverbs.DeviceByIndex(int(route.DeviceIndex))
	if err != nil {
		return err
	}
	if p.dev, err = dev.Open(nil); err != nil {
		return err
	}
	if p.pd, err = p.dev.AllocPD(); err != nil {
		return err
	}
	p.cq, err = p.dev.CreateCQ(uverbs.CQConfig{Entries: 1})
	return err
}

// to moves a queue pair as the connection manager says.
func (p *phases) to(i int, state abi.IBQPState) error {
	attr, err := p.ids[i].InitQPAttr(state)
	if err != nil {
		return err
	}
	return p.qps[i].ModifyFromCM(attr)
}

func (p *phases) connect(i int) error {
	param := &ucma.ConnParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 5, QPNum: p.qps[i].Number()}
	if _, err := p.ids[i].Connect(p.ctx, param, ucma.ECE{}); err != nil {
		return err
	}
	if err := p.to(i, abi.IB_QPS_RTR); err != nil {
		return err
	}
	if err := p.to(i, abi.IB_QPS_RTS); err != nil {
		return err
	}
	return p.ids[i].Establish()
}

func (p *phases) disconnect(i int) error {
	if err := p.qps[i].ToError(); err != nil {
		return err
	}
	if err := p.ids[i].Disconnect(); err != nil {
		return err
	}
	if err := p.qps[i].Close(); err != nil {
		return err
	}
	return p.ids[i].WaitDisconnected(p.ctx)
}

func (p *phases) destroy(i int) error { return p.ids[i].Close() }

// close ends what a failed step left, and what all share.
func (p *phases) close() {
	for i := range p.ids {
		if p.qps[i] != nil {
			_ = p.qps[i].Close()
		}
		if p.ids[i] != nil {
			_ = p.ids[i].Close()
		}
	}
	if p.cq != nil {
		_ = p.cq.Close()
	}
	if p.pd != nil {
		_ = p.pd.Close()
	}
	if p.dev != nil {
		_ = p.dev.Close()
	}
	if p.ch != nil {
		_ = p.ch.Close()
	}
}
