//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// serveSteps is a server with the calls that cmtime makes, driven by the
// events of one channel. It runs until ctx ends.
func serveSteps(ctx context.Context, where netip.AddrPort) error {
	addr, err := ucma.SockaddrFrom(where)
	if err != nil {
		return err
	}
	s := new(station)
	if err := s.start(); err != nil {
		return err
	}
	defer s.close()
	l, err := cm.NewID(&cm.IDOptions{Channel: s.ch})
	if err != nil {
		return err
	}
	if err := errors.Join(l.Bind(addr), l.Listen(0)); err != nil {
		return err
	}
	fmt.Println("listening")
	for {
		id, ev, err := s.ch.NextEvent(ctx)
		if err != nil {
			return nil // ctx has ended
		}
		switch ev.Type {
		case abi.RDMA_CM_EVENT_CONNECT_REQUEST:
			err = s.accept(ev.Request)
		case abi.RDMA_CM_EVENT_DISCONNECTED:
			err = s.end(id)
		}
		if err != nil {
			return err
		}
	}
}

func (s *station) accept(id *cm.ID) error {
	if err := s.addQP(id); err != nil {
		return err
	}
	if err := s.move(id, abi.IB_QPS_RTR, abi.IB_QPS_RTS); err != nil {
		return err
	}
	return id.Accept(s.param(id), ucma.ECE{})
}

// end answers the peer's wish to disconnect and forgets the connection.
func (s *station) end(id *cm.ID) error {
	qp := s.qps[id]
	delete(s.qps, id)
	return errors.Join(id.Disconnect(), qp.Close(), id.Close())
}
