package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A side is what one end has on its device: queues, memory, and the queue
// pairs of all its connections. Each connection has two areas of memory of one
// message each: what it sends from, and what its peer writes to.
type side struct {
	req    request
	depth  int // of the send queue
	device *uverbs.Device
	ctx    *uverbs.Context
	pd     *uverbs.PD
	ch     *uverbs.CompChannel
	sendCQ *uverbs.CQ
	recvCQ *uverbs.CQ
	mem    *uverbs.Memory
	mr     *uverbs.MR
	place  Place // this process, before it measures
	undo   []func() error

	mu    sync.Mutex // guards what follows
	conns []*conn    // by index
	taken []bool     // indices that a request has had
	err   error      // why it ended

	adding sync.Mutex // held while a queue pair is made, and while all go

	stopped atomic.Bool
	done    chan struct{} // closed with stopped
	once    sync.Once
	ready   chan struct{} // closed when all connections are there
	up      int

	// Both directions: whether the peer has told what it measured, and what.
	// Only the loop uses them.
	reported bool
	reverse  Report

	wait  waiter
	beats atomic.Uint64 // messages that arrived, or batches of them
}

// A conn is one queue pair.
type conn struct {
	*side
	index  int
	id     endpoint
	qp     *uverbs.QP
	remote reply
	inline int
	recvWR [1]uverbs.RecvWR // made once
}

var errStopped = errors.New("stopped")

// newSide makes the objects on a device: send queues of a depth, and receives as the request
// says, or as the device has room for if that is no less than least.
func newSide(d *uverbs.Device, r request, depth, least int) (*side, error) {
	s := &side{req: r, depth: depth, device: d, done: make(chan struct{}), ready: make(chan struct{}), conns: make([]*conn, r.QPs), taken: make([]bool, r.QPs)}
	if err := s.make(least); err != nil {
		s.release()
		return nil, err
	}
	s.place = s.placeOf(unknownCPU)
	s.wait = waiter{mode: r.Mode, spin: r.spin(), stopped: &s.stopped}
	var stop context.CancelFunc
	s.wait.ctx, stop = context.WithCancel(context.Background())
	go func() { <-s.done; stop() }()
	return s, nil
}

// make makes the objects; what there is after an error is to be released.
func (s *side) make(least int) (err error) {
	if s.ctx, err = openDevice(s.device); err != nil {
		return err
	}
	s.undo = append(s.undo, s.ctx.Close)
	attr, err := s.ctx.QueryDevice()
	if err != nil {
		return err
	}
	if err := s.req.fit(s.device.Name, attr, s.depth, least); err != nil {
		return err
	}
	if s.pd, err = s.ctx.AllocPD(); err != nil {
		return err
	}
	s.undo = append(s.undo, s.pd.Close)
	if s.ch, err = s.ctx.CreateBlockingCompChannel(); err != nil {
		return err
	}
	s.undo = append(s.undo, s.ch.Close)
	if err := s.createCQs(); err != nil {
		return err
	}
	return s.register()
}

// createCQs makes two queues, or one if a side sends and receives: so one loop
// can wait for both.
func (s *side) createCQs() (err error) {
	send, recv := s.req.entries(s.depth)
	s.sendCQ, err = s.createCQ(send)
	s.recvCQ = s.sendCQ
	if err == nil && recv > 0 {
		s.recvCQ, err = s.createCQ(recv)
	}
	return err
}

func (s *side) createCQ(entries int) (*uverbs.CQ, error) {
	cq, err := s.ctx.CreateCQ(uverbs.CQConfig{Entries: entries, Channel: s.ch})
	if err == nil {
		s.undo = append(s.undo, cq.Close)
	}
	return cq, err
}

// area is the bytes of one area, so that areas begin at cache lines.
func (r *request) area() int { return (int(r.Size) + 63) &^ 63 }

func (s *side) register() (err error) {
	if s.mem, err = uverbs.NewMemory(2 * s.req.area() * int(s.req.QPs)); err != nil {
		return err
	}
	s.undo = append(s.undo, s.mem.Close)
	if s.mr, err = s.pd.RegMR(s.mem, s.req.access()); err != nil {
		return err
	}
	s.undo = append(s.undo, s.mr.Close)
	return nil
}

// access is what the peer may do with the memory: no more than the operation needs.
func (r *request) access() uverbs.Access {
	switch r.Op {
	case Write:
		return uverbs.AccessLocalWrite | uverbs.AccessRemoteWrite
	case Read:
		return uverbs.AccessLocalWrite | uverbs.AccessRemoteRead
	}
	return uverbs.AccessLocalWrite
}

// sendArea and recvArea are offsets into the memory.
func (c *conn) sendArea() int { return 2 * c.index * c.req.area() }
func (c *conn) recvArea() int { return c.sendArea() + c.req.area() }

// out is what is sent, or where a read goes.
func (c *conn) out() uverbs.SGE { return c.mr.SGE(c.sendArea(), int(c.req.Size)) }

// in is where the peer's messages go, a report among them.
func (c *conn) in() uverbs.SGE {
	size := int(c.req.Size)
	if c.req.both() {
		size = max(size, reportSize(size))
	}
	return c.mr.SGE(c.recvArea(), size)
}

// memory is where the peer may read and write.
func (c *conn) memory() reply {
	return reply{Addr: c.mr.Addr() + uint64(c.recvArea()), RKey: c.mr.RKey(), Size: c.req.Size, Place: c.place}
}

// add makes the queue pair of a connection, with its receives posted. The ID
// belongs to the side from then on, also when it fails.
func (s *side) add(id endpoint, index, inline int) (*conn, error) {
	c := &conn{side: s, index: index, id: id}
	s.undo = append(s.undo, id.Close)
	caps := uverbs.QPCap{MaxSendWR: s.depth, MaxRecvWR: max(s.req.receives(), 1), MaxSendSGE: 1, MaxRecvSGE: 1, MaxInline: inline}
	var err error
	if c.qp, err = id.CreateQP(s.pd, uverbs.QPConfig{SendCQ: s.sendCQ, RecvCQ: s.recvCQ, Cap: caps}); err != nil {
		return nil, err
	}
	c.inline = inline
	c.recvWR[0] = uverbs.RecvWR{ID: uint64(index), SGEs: []uverbs.SGE{c.in()}}
	s.undo = append(s.undo, c.qp.Close)
	for range s.req.receives() {
		if err := c.receive(); err != nil {
			return nil, err
		}
	}
	s.mu.Lock()
	s.conns[index] = c
	s.mu.Unlock()
	return c, nil
}

// receive posts one receive. All go to the same place: nobody reads them.
func (c *conn) receive() error { return c.qp.PostRecv(c.recvWR[:]...) }

// claim takes an index for one request, so that no two make the same queue pair.
func (s *side) claim(index int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[index] {
		return fmt.Errorf("%w: queue pair %d twice", ErrProtocol, index)
	}
	s.taken[index] = true
	return nil
}

// established counts connections; the last one starts the test.
func (s *side) established() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up++; s.up == int(s.req.QPs) {
		close(s.ready)
	}
}

// follow reads the events of a connection until it ends; that ends the side.
func (c *conn) follow(ctx context.Context) {
	for {
		ev, err := c.id.NextEvent(ctx)
		if err != nil {
			c.stop(err)
			return
		}
		switch ev.Type {
		case abi.RDMA_CM_EVENT_DISCONNECTED:
			c.stop(cm.ErrPeerClosed)
			return
		case abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
			c.stop(cm.ErrDeviceRemoved)
			return
		}
	}
}

// stop ends the side; the first reason counts.
func (s *side) stop(err error) {
	s.once.Do(func() {
		s.mu.Lock()
		s.err = err
		s.mu.Unlock()
		s.stopped.Store(true)
		close(s.done)
	})
}

// reason is why the side was stopped.
func (s *side) reason() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		return errStopped
	}
	return s.err
}

// release closes everything, the last made first.
func (s *side) release() {
	s.stop(errStopped)
	for _, f := range slices.Backward(s.undo) {
		_ = f() // the next one's error says it again, and the device's close takes all
	}
	s.undo = nil
}

// hangUp tells the peers and waits for them a moment, then releases.
func (s *side) hangUp() {
	s.mu.Lock()
	conns := slices.Clone(s.conns)
	s.mu.Unlock()
	for _, c := range conns {
		if c != nil {
			_ = c.id.Disconnect() // it may have ended already
		}
	}
	select {
	case <-s.done: // follow saw the answer
	case <-time.After(time.Second):
	}
	s.release()
}

// toRTS makes the queue pair ready to send.
func (c *conn) toRTS() error {
	if err := c.id.ModifyQP(c.qp, abi.IB_QPS_RTR); err != nil {
		return err
	}
	return c.id.ModifyQP(c.qp, abi.IB_QPS_RTS)
}

// connParam are a side's wishes. With one read under way after the other, 16
// keep a wire busy; the kernel takes what both can.
func (s *side) connParam(data []byte, qpn uint32) *ucma.ConnParam {
	reads := uint8(16)
	if attr, err := s.ctx.QueryDevice(); err == nil {
		reads = uint8(min(int(attr.MaxQPInitRdAtomic), int(attr.MaxQPRdAtomic), 16))
	}
	return &ucma.ConnParam{PrivateData: data, QPNum: qpn, InitiatorDepth: reads, ResponderResources: reads, RetryCount: 6,
		RNRRetryCount: rnrRetries(s.device)}
}
