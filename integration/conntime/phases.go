//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// phases is a client that takes all its connections through one step before
// the next step begins, with the calls that cmtime makes, and like it drives
// all of them by the events of one channel: one protection domain and
// completion queue for all, one queue pair for each.
type phases struct {
	station
	ctx   context.Context
	dst   ucma.Sockaddr
	ids   []*cm.ID
	index map[*cm.ID]int
}

// stepTimeout is how long cmtime lets the kernel resolve.
const stepTimeout = 2 * time.Second

// The names of cmtime's steps.
var phaseNames = []string{"create id", "resolve addr", "resolve route", "create qp", "connect", "disconnect", "destroy"}

func runPhases(ctx context.Context, where netip.AddrPort, n int) (*result, error) {
	dst, err := ucma.SockaddrFrom(where)
	if err != nil {
		return nil, err
	}
	// cmtime has its channel before it looks at the clock, too.
	p := &phases{ctx: ctx, dst: dst, ids: make([]*cm.ID, n), index: make(map[*cm.ID]int)}
	if err := p.start(); err != nil {
		return nil, err
	}
	defer p.close()
	steps := []struct {
		start func(i int) error
		event abi.RDMACMEventType // that ends the step
		then  func(i int) error   // done with each event; nil for nothing
	}{
		{p.create, noEvent, nil},
		{p.resolveAddr, abi.RDMA_CM_EVENT_ADDR_RESOLVED, nil},
		{p.resolveRoute, abi.RDMA_CM_EVENT_ROUTE_RESOLVED, nil},
		{p.createQP, noEvent, nil},
		{p.connect, abi.RDMA_CM_EVENT_CONNECT_RESPONSE, p.establish},
		{p.disconnect, abi.RDMA_CM_EVENT_DISCONNECTED, nil},
		{p.destroy, noEvent, nil},
	}
	r := &result{Conns: n}
	for i, s := range steps {
		if err := r.time(phaseNames[i], func() error { return p.all(s.start, s.event, s.then) }); err != nil {
			return nil, fmt.Errorf("%s: %w", phaseNames[i], err)
		}
	}
	return r, nil
}

// noEvent is the event of a step that does not wait for one.
const noEvent = ^abi.RDMACMEventType(0)

// all starts a step on all connections, and then waits for their events.
func (p *phases) all(start func(i int) error, event abi.RDMACMEventType, then func(i int) error) error {
	for i := range p.ids {
		if err := start(i); err != nil {
			return err
		}
	}
	if event == noEvent {
		return nil
	}
	for left := len(p.ids); left > 0; {
		id, ev, err := p.ch.NextEvent(p.ctx)
		if err != nil {
			return err
		}
		if err := ev.Err(); err != nil && ev.Type != event {
			return err
		}
		if ev.Type != event {
			continue // such as TIMEWAIT_EXIT
		}
		left--
		if then == nil {
			continue
		}
		if err := then(p.index[id]); err != nil {
			return err
		}
	}
	return nil
}

func (p *phases) create(i int) (err error) {
	if p.ids[i], err = cm.NewID(&cm.IDOptions{Channel: p.ch}); err == nil {
		p.index[p.ids[i]] = i
	}
	return err
}

func (p *phases) resolveAddr(i int) error {
	return p.ids[i].StartResolveAddr(ucma.Sockaddr{}, p.dst, stepTimeout)
}

func (p *phases) resolveRoute(i int) error { return p.ids[i].StartResolveRoute(stepTimeout) }

func (p *phases) createQP(i int) error { return p.addQP(p.ids[i]) }

func (p *phases) connect(i int) error {
	return p.ids[i].StartConnect(p.param(p.ids[i]), ucma.ECE{})
}

func (p *phases) establish(i int) error {
	if err := p.move(p.ids[i], abi.IB_QPS_RTR, abi.IB_QPS_RTS); err != nil {
		return err
	}
	return p.ids[i].Establish()
}

func (p *phases) disconnect(i int) error {
	id := p.ids[i]
	if err := p.qps[id].ToError(); err != nil {
		return err
	}
	if err := id.Disconnect(); err != nil {
		return err
	}
	return p.qps[id].Close()
}

func (p *phases) destroy(i int) error { return p.ids[i].Close() }
