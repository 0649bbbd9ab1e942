package cm

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// What is different on iWARP, where the kernel's iw_cm carries connections over
// TCP with the MPA protocol.

// iwarp is what a connection on an iWARP device remembers.
type iwarp struct {
	// answered is closed when the kernel has an answer to the connect request;
	// nil without one under way.
	answered chan struct{}

	// listening: the peer, which has connected, has to speak first.
	listening atomic.Bool
	accepted  time.Time
}

// knownNotIWARP reports whether it is sure that a device does not speak iWARP.
func knownNotIWARP(d *uverbs.Device) bool {
	return d.Protocol != "" && d.Protocol != uverbs.ProtocolIWARP
}

// connectIWARP is ID.Connect for a connection: the kernel holds on to ID and queue
// pair for as long as its command runs (see connectWithin), and then until the peer has
// answered the request (destroy_cm_id of iwcm.c), up to ten seconds with siw. So when
// ctx ends first, abort leaves the rest to a goroutine.
func (c *Conn) connectIWARP(ctx context.Context, p *ucma.ConnParam) (*ucma.ConnParam, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var (
		peer *ucma.ConnParam
		err  error
	)
	c.iw.answered = make(chan struct{})
	go func() {
		defer close(c.iw.answered)
		peer, err = c.id.Connect(context.WithoutCancel(ctx), p, ucma.ECE{})
	}()
	select {
	case <-c.iw.answered:
		return peer, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// abortLater is abort for a connection whose request the kernel has yet to see
// answered; it reports false for others.
func (c *Conn) abortLater() bool {
	if c.iw.answered == nil {
		return false
	}
	select {
	case <-c.iw.answered:
		return false
	default:
	}
	c.end(errClosedID)
	go func() {
		<-c.iw.answered
		background.teardowns.run(func() { _ = c.Close() })
	}()
	return true
}

// connectErrorIWARP gives the errno of a connect command the form of a refusal,
// which it is where a TCP connection is opened.
func connectErrorIWARP(err error) error {
	for _, errno := range []syscall.Errno{syscall.ECONNREFUSED, syscall.ECONNRESET} {
		if isErrno(err, errno) {
			return fmt.Errorf("%w (%w)", &RejectError{Reason: abi.CMRejectReason(uint32(-int32(errno)))}, err)
		}
	}
	return err
}

// iwarpPatience is how long the accepting side waits for the peer to speak first.
const iwarpPatience = 200 * time.Millisecond

// listenFirst makes the side that has accepted wait for the peer.
func (c *Conn) listenFirst() {
	c.iw.accepted = time.Now()
	c.iw.listening.Store(true)
}

// hearPeer returns when this side may send. MPA wants the side that connects to be
// the first (RFC 5044, section 7.1): siw on the other side takes what comes directly
// behind the answer to the request for a fault in it, and gives up
// (siw_recv_mpa_rr). A message is the proof that this is over. A peer that only
// reads and writes sends none, and there are protocols in which the other side
// begins; for them the answer has to have been read after a while.
func (c *Conn) hearPeer(ctx context.Context) error {
	timer := time.NewTimer(iwarpPatience - time.Since(c.iw.accepted))
	defer timer.Stop()
	c.cq.sleep(1)
	defer c.cq.sleep(-1)
	c.cq.pump(true)
	select {
	case <-c.recvs.first:
	case <-timer.C:
	case <-c.ended:
		return c.endErr
	case <-ctx.Done():
		return ctx.Err()
	}
	c.iw.listening.Store(false)
	return nil
}

// nudges are when the side that has connected sends a nudge, nudgesBack when the
// other does: not before the answer to the request has been read, see hearPeer.
var (
	nudges     = []time.Duration{50 * time.Millisecond, time.Second}
	nudgesBack = []time.Duration{500 * time.Millisecond, 2 * time.Second}
)

// nudge makes the peer's kernel look for messages that it has overlooked: siw answers
// the request before it listens for data (siw_accept: siw_qp_socket_assoc comes last),
// and what arrives in between lies in the socket until something else arrives. A
// write of no bytes is that; the peer's program sees nothing of it.
func (c *Conn) nudge() {
	for _, d := range nudges {
		time.AfterFunc(d, func() { c.postNudge(abi.IB_UVERBS_WR_RDMA_WRITE) })
	}
}

// nudgeBack does the same for this side's own kernel, where it has accepted a peer
// that sends no nudge, such as a C program, which would wait for ever for the answer
// to its first message. The peer's device answers a read of no bytes, for which it
// looks at no memory (siw_init_rresp, siw_check_sgl_tx), and the answer is what
// arrives. reads is how many reads the peer serves.
func (c *Conn) nudgeBack(reads uint8) {
	if reads == 0 {
		return // a read would end the connection
	}
	for _, d := range nudgesBack {
		time.AfterFunc(d, func() {
			select {
			case <-c.recvs.first: // nothing is overlooked
			default:
				c.postNudge(abi.IB_UVERBS_WR_RDMA_READ)
			}
		})
	}
}

// postNudge posts a request without data and without completion.
func (c *Conn) postNudge(opcode abi.IBUverbsWROpcode) {
	if c.Err() != nil {
		return
	}
	_ = c.qp.PostSend(uverbs.SendWR{ID: c.sends.base | operation, Opcode: opcode, RKey: 1})
}

// isNudge reports whether a completion is a nudge's, whose ID is of no operation.
func isNudge(wc *uverbs.WC) bool { return wc.ID&(recvBit|operation) == operation }

// spare is how many requests beside the operations the queue pair has room for: a
// question to the peer and a nudge take no operation's place.
func (c *Conn) spare() int {
	n := 0
	if c.dev.iwarp {
		n++
	}
	if c.cfg.KeepAlive.Interval > 0 {
		n++
	}
	return n
}

// needsHalves reports whether a listener on an address needs an ID for each family: on
// the IPv6 wildcard the kernel refuses IPv4 connections of iWARP devices, whose
// addresses it does not recognise when they are written as IPv6 ones
// (rdma_translate_ip in iw_conn_req_handler).
func needsHalves(netns string, addr netip.Addr) bool {
	if !addr.Is6() || !addr.IsUnspecified() {
		return false
	}
	var devices []*uverbs.Device
	_ = inNetNS(netns, func() (err error) { // without a list there is none
		devices, err = host.devices()
		return err
	})
	return slices.ContainsFunc(devices, func(d *uverbs.Device) bool { return d.Protocol == uverbs.ProtocolIWARP })
}

// listenV4 adds the IPv4 half.
func (l *Listener) listenV4(lc ListenConfig) error {
	bound, ok := l.addr.(Addr)
	if !ok {
		return nil
	}
	var err error
	if l.v4, err = NewID(&IDOptions{Channel: lc.Channel, NetNS: lc.NetNS}); err != nil {
		return err
	}
	sa, err := sockaddrIn(lc.NetNS, netip.AddrPortFrom(netip.IPv4Unspecified(), bound.Port()))
	if err != nil {
		return err
	}
	return l.listenOn(l.v4, sa)
}

// readEach reads into several slices one after the other: an iWARP read fills one.
func (c *Conn) readEach(ctx context.Context, src RemoteMemory, slices []Slice) error {
	for _, s := range slices {
		part, err := src.Slice(0, uint64(s.Len()))
		if err != nil {
			return c.opError("read", fmt.Errorf("%w: %w", err, syscall.EMSGSIZE))
		}
		if err := c.Read(ctx, part, s); err != nil {
			return err
		}
		src.Addr, src.Len = src.Addr+part.Len, src.Len-part.Len
	}
	return nil
}

// readsIWARP returns how many reads this side may have outstanding once the peer has
// answered: the event has the depths of this side's own queues, the one for
// its requests as responder resources (siw_cm_upcall, cma_iw_handler).
func (c *Conn) readsIWARP(local uint8, answer *ucma.ConnParam) uint8 {
	return min(local, answer.ResponderResources)
}
