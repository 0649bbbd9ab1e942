//go:build linux

package main

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A station is one end of many connections that share a protection domain and
// a completion queue, at the level of IDs and queue pairs.
type station struct {
	ch  *cm.EventChannel
	qps map[*cm.ID]*uverbs.QP
	dev *uverbs.Context
	pd  *uverbs.PD
	cq  *uverbs.CQ
}

func (s *station) start() (err error) {
	s.qps = make(map[*cm.ID]*uverbs.QP)
	s.ch, err = cm.NewRawEventChannel(nil)
	return err
}

// addQP makes the queue pair of a connection; the first one opens the device.
func (s *station) addQP(id *cm.ID) error {
	if s.dev == nil {
		if err := s.open(id); err != nil {
			return err
		}
	}
	qp, err := s.pd.CreateQP(uverbs.QPConfig{
		SendCQ: s.cq, RecvCQ: s.cq, SignalAll: true,
		Cap: uverbs.QPCap{MaxSendWR: 1, MaxRecvWR: 1},
	})
	if err != nil {
		return err
	}
	s.qps[id] = qp
	return s.move(id, abi.IB_QPS_INIT)
}

// open opens the device of an ID and makes what all connections share.
func (s *station) open(id *cm.ID) error {
	route, err := id.Route()
	if err != nil {
		return err
	}
	dev, err := uverbs.DeviceByIndex(int(route.DeviceIndex))
	if err != nil {
		return err
	}
	if s.dev, err = dev.Open(nil); err != nil {
		return err
	}
	if s.pd, err = s.dev.AllocPD(); err != nil {
		return err
	}
	s.cq, err = s.dev.CreateCQ(uverbs.CQConfig{Entries: 1})
	return err
}

// move takes a queue pair through states as the connection manager says.
func (s *station) move(id *cm.ID, states ...abi.IBQPState) error {
	for _, state := range states {
		attr, err := id.InitQPAttr(state)
		if err != nil {
			return err
		}
		if err := s.qps[id].ModifyFromCM(attr); err != nil {
			return err
		}
	}
	return nil
}

func (s *station) param(id *cm.ID) *ucma.ConnParam {
	return &ucma.ConnParam{ResponderResources: 1, InitiatorDepth: 1, RetryCount: 5, QPNum: s.qps[id].Number()}
}

// close ends what is left; closing the channel closes its IDs.
func (s *station) close() {
	for _, qp := range s.qps {
		_ = qp.Close()
	}
	_ = s.ch.Close()
	if s.cq != nil {
		_ = s.cq.Close()
	}
	if s.pd != nil {
		_ = s.pd.Close()
	}
	if s.dev != nil {
		_ = s.dev.Close()
	}
}
