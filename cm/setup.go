package cm

import (
	"fmt"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// minRNRTimer is how long the peer waits before it sends again when this side
// has no receive posted: code 12, 0.64 ms (InfiniBand specification, table 45).
// The kernel's own choice, code 0, is the longest wait there is, 655 ms.
const minRNRTimer = 12

// newConn makes the connection's queues on the device of the ID's route, ready
// to receive. On error it undoes what it did; id is the caller's to close.
func newConn(id *ID, route *ucma.Route, cfg Config) (*Conn, error) {
	c := &Conn{
		id: id, port: route.Port, cfg: cfg,
		local: addrOf(route.Src), remote: addrOf(route.Dst),
		ended:  make(chan struct{}),
		parted: make(chan struct{}),
	}
	if err := c.openDevice(route); err != nil {
		return nil, &stepFailure{step: stepOpenDevice, err: err}
	}
	if cfg.SendDepth >= c.dev.maxQPWR {
		c.cfg.KeepAlive.Interval = -1 // there is no room for a question
	}
	id.notIWARP.Store(knownNotIWARP(c.dev.ctx.Device()))
	if err := c.setUp(); err != nil {
		c.abort()
		return nil, &stepFailure{step: stepQueuePair, err: err}
	}
	return c, nil
}

// openDevice makes the connection a user of its device, and of its shared
// protection domain if it has one.
func (c *Conn) openDevice(route *ucma.Route) (err error) {
	if c.cfg.PD != nil {
		c.dev, err = c.cfg.PD.add(c, route)
		return err
	}
	c.dev, err = acquireDevice(c.id.netns, route)
	return err
}

// watch makes the connection follow the events of its device and its ID.
func (c *Conn) watch() {
	c.dev.follow(c)
	c.id.setHandler(c.handle)
	c.id.setOnLost(c.lose)
}

// setUp creates the objects in the order in which they need each other.
func (c *Conn) setUp() error {
	q, key, err := c.dev.join(c, c.requests(), c.cfg.PrivateCQ)
	if err != nil {
		return err
	}
	c.cq, c.key = q, key
	if err := c.joinPD(); err != nil {
		return err
	}
	c.qp, err = c.pd.CreateQP(uverbs.QPConfig{
		Type:   abi.IB_UVERBS_QPT_RC,
		SendCQ: q.cq, RecvCQ: q.cq,
		Cap: uverbs.QPCap{
			MaxSendWR: c.cfg.SendDepth + c.spare(), MaxRecvWR: c.cfg.RecvDepth,
			MaxSendSGE: c.cfg.MaxSGE, MaxRecvSGE: 1,
			MaxInline: c.cfg.MaxInline,
		},
	})
	if err != nil {
		return err
	}
	c.buffers, err = newBuffers(c.pd, c.cfg.RecvDepth*c.cfg.RecvSize, c.cfg.SendDepth*c.cfg.RecvSize)
	if err != nil {
		return err
	}
	// Completions come only after requests were posted, but that order runs
	// through the kernel, where neither the memory model nor the race
	// detector sees it. The lock is what they see.
	q.mu.Lock()
	c.sends.init(key, c.cfg.SendDepth, c.cfg.MaxSGE)
	c.recvs.init(key, c.cfg.RecvDepth, c.cfg.RecvSize, c.buffers.recv.mr)
	q.mu.Unlock()
	if err := c.toInit(); err != nil {
		return err
	}
	return c.postAllRecvs()
}

// requests is how many requests the connection may have under way.
func (c *Conn) requests() int { return c.cfg.requests() + c.spare() }

// peersMay is what a queue pair lets peers do with memory that admits them.
const peersMay = uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead | uverbs.AccessRemoteAtomic

// peersMayIWARP is the same where there are no atomic operations.
const peersMayIWARP = uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead

// toInit takes the queue pair to INIT, where receives can be posted. The
// kernel leaves the access flags empty before the request is sent; they are
// set here once, so that no second transition is needed later. On Ethernet the
// attributes are known without asking: partition keys, the only thing to look
// up, exist on InfiniBand alone.
func (c *Conn) toInit() error {
	if c.dev.ethernet(c.port) && !c.dev.iwarp {
		return c.qp.ToInit(c.port, peersMay)
	}
	attr, err := c.id.InitQPAttr(abi.IB_QPS_INIT)
	if err != nil {
		return err
	}
	attr.QPAccessFlags = uint32(peersMay)
	if c.dev.iwarp {
		attr.QPAccessFlags = uint32(peersMayIWARP)
	}
	return c.qp.ModifyFromCM(attr)
}

// toRTS takes the queue pair through RTR to RTS with what both sides agreed
// on. localReads and peerReads are the outstanding reads and atomics of this
// side and of the peer.
func (c *Conn) toRTS(localReads, peerReads uint8) error {
	rtr, err := c.id.InitQPAttr(abi.IB_QPS_RTR)
	if err != nil {
		return err
	}
	rtr.MinRnrTimer = minRNRTimer
	rtr.MaxDestRdAtomic = peerReads
	rtr.PathMTU = c.cfg.capMTU(rtr.PathMTU)
	if err := c.qp.ModifyFromCM(rtr); err != nil {
		return err
	}
	rts, err := c.id.InitQPAttr(abi.IB_QPS_RTS)
	if err != nil {
		return err
	}
	rts.MaxRdAtomic = localReads
	rts.RnrRetry = c.rnrRetry(rts.RnrRetry)
	return c.qp.ModifyFromCM(rts)
}

// reads returns how many reads and atomics this side may have outstanding and
// serves, as far as configuration, device and (if peer is not nil) the peer
// allow. An event shows the peer's wishes from our side already: its
// initiator depth arrives as our responder resources.
func (c *Conn) reads(peer *ucma.ConnParam) (local, served uint8) {
	local = uint8(min(c.cfg.LocalReads, c.dev.maxInitiate))
	served = uint8(min(c.cfg.PeerReads, c.dev.maxServe))
	if peer != nil {
		local = min(local, peer.InitiatorDepth)
		served = min(served, peer.ResponderResources)
	}
	return local, served
}

// setACKTimeout makes Config.ACKTimeout hold for the queue pair of the side that
// accepts; on the other side it has to be known before the route is resolved.
func (c *Conn) setACKTimeout() error {
	if c.cfg.ACKTimeout == 0 {
		return nil
	}
	return c.id.SetACKTimeout(c.cfg.ackExponent())
}

// param describes this side to the peer.
func (c *Conn) param(privateData []byte, local, served uint8) *ucma.ConnParam {
	return &ucma.ConnParam{
		PrivateData:        privateData,
		ResponderResources: served,
		InitiatorDepth:     local,
		FlowControl:        true,
		RetryCount:         uint8(c.cfg.RetryCount),
		RNRRetryCount:      uint8(c.cfg.RNRRetryCount),
		QPNum:              c.qp.Number(),
	}
}

// setConnected notes that the peer knows of the connection, so that Close says
// goodbye.
func (c *Conn) setConnected() {
	c.mu.Lock()
	c.connected = true
	c.mu.Unlock()
	c.startKeepAlive()
}

// A Step is a finished part of a Dial or Accept, for tracing.
type Step struct {
	Name   string        // "resolve address", "resolve route", "connect", "establish", …
	Took   time.Duration // of this step
	Detail string        // what it found, for people
}

// steps times the parts of an operation and reports them.
type steps struct {
	report func(Step)
	start  time.Time
}

func startSteps(report func(Step)) *steps { return &steps{report: report, start: time.Now()} }

// done ends a step and starts the next one.
func (s *steps) done(name, format string, args ...any) {
	now := time.Now()
	if s.report != nil {
		s.report(Step{Name: name, Took: now.Sub(s.start), Detail: fmt.Sprintf(format, args...)})
	}
	s.start = now
}
