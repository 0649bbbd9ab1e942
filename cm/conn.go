package cm

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// A Conn is an established reliable connection. All methods are safe for
// concurrent use. Operations are carried out in the order in which they were
// posted; those of different goroutines in any order.
//
// When the context of an operation ends first, the error says by [OpError.Posted]
// whether the device has the request: if so, the operation may have happened or may
// still happen. The connection stays usable. The memory given to the operation must
// not be touched before [Conn.Drain] has returned nil or the connection is closed;
// operations on it are refused until then (syscall.EBUSY), and so is the end of its
// region. A context that has ended before the call starts nothing. A Recv that is
// cancelled loses no message.
type Conn struct {
	id     *ID
	dev    *device
	port   uint8 // of dev
	cfg    Config
	cq     *sharedCQ
	key    uint64 // of this connection in cq
	qp     *uverbs.QP
	local  net.Addr
	remote net.Addr
	data   []byte // private data of the peer

	sends sendQueue
	recvs recvQueue
	iw    iwarp

	ended   chan struct{} // closed when the connection is of no more use
	endOnce sync.Once
	endErr  error // why; set before ended is closed
	doubt   suspicion
	alive   keepAlive

	localReads uint8 // reads and atomics that this side may have outstanding

	byeOnce sync.Once // the one disconnect command
	byeErr  error

	parted   chan struct{} // closed when the peer has confirmed the end, or cannot any more
	partOnce sync.Once
	partErr  error // nil if confirmed; set before parted is closed

	tearOnce sync.Once // destruction of the kernel objects
	tearErr  error

	pd      *uverbs.PD // of all that is the connection's
	buffers *buffers
	regions regionSet

	mu        sync.Mutex
	closed    bool // by Close; no messages are lent any more
	connected bool // the peer knows of the connection
	lent      int  // messages that the application has
	unmapping bool // the device has no part in the buffers: the last one to use them unmaps them
}

// LocalAddr returns the address of this end.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr returns the address of the peer.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// Device returns the name of the RDMA device the connection uses.
func (c *Conn) Device() string { return c.dev.name() }

// PrivateData returns what the peer attached to its connect request or its
// answer, padded with zeros to the transport's maximum (MaxConnectData or
// MaxAcceptData bytes), but not on iWARP; nil on a transport that carried none.
func (c *Conn) PrivateData() []byte { return c.data }

// ID returns the connection's ID, for options and queries. Closing it breaks
// the connection.
func (c *Conn) ID() *ID { return c.id }

// QP returns the connection's queue pair, for its number and for queries. Its
// work request IDs belong to this package: do not post to it. What the program makes
// in its protection domain it closes before the connection, or Close returns a
// *[uverbs.BusyError].
func (c *Conn) QP() *uverbs.QP { return c.qp }

// Done returns a channel that is closed when the connection has ended, for
// whatever reason and within a second of the first sign of it, also when nobody
// waits for anything; Err then says why.
func (c *Conn) Done() <-chan struct{} { return c.ended }

// Err returns nil while the connection lives, and then what ended it. That is
// net.ErrClosed after this side's Close; everything else matches ErrConnLost,
// and beside it ErrPeerClosed, ErrPeerDead or ErrDeviceRemoved, a *PortError, or a
// *uverbs.CompletionError. The request that failed first is in the chain also
// where something else was the cause. All operations that the end interrupts, and
// all later ones, return the same cause.
func (c *Conn) Err() error {
	select {
	case <-c.ended:
		return c.endErr
	default:
		return nil
	}
}

// cause returns what broke the connection during a handshake, where a step saw
// no more than that its ID was closed: the removal of a device closes it.
func (c *Conn) cause(err error) error {
	ended := c.Err()
	if ended == nil || !errors.Is(err, net.ErrClosed) {
		return err
	}
	var sf *stepFailure
	if errors.As(err, &sf) {
		return &stepFailure{step: sf.step, err: ended}
	}
	return ended
}

// handle sees the events of the connection in the event channel's goroutine.
// It must not block. Events it does not keep go on to the ID.
func (c *Conn) handle(ev *ucma.Event) bool {
	switch ev.Type {
	case abi.RDMA_CM_EVENT_DISCONNECTED:
		c.explain(ErrPeerClosed)
		c.part(nil)
		// The peer waits for the answer, and would wait for minutes if the
		// application here never closed.
		background.answers.run(func() { _ = c.sayBye() })
	case abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
		c.dev.removed()
	}
	return false
}

// part ends the waits for the peer's confirmation of the end.
func (c *Conn) part(err error) {
	c.partOnce.Do(func() {
		c.partErr = err
		close(c.parted)
	})
}

// lose ends everything when the ID was closed, or its channel broke and the
// end of the connection would go unnoticed.
func (c *Conn) lose(err error) {
	c.end(err)
	c.part(err)
}

// sayBye tells the peer that the connection ends, or confirms that it does.
// Once is enough for both.
func (c *Conn) sayBye() error {
	c.byeOnce.Do(func() { c.byeErr = c.id.Disconnect() })
	return c.byeErr
}

// Disconnect tells the peer that the connection ends and waits until it has
// confirmed. The connection must still be closed.
func (c *Conn) Disconnect(ctx context.Context) error {
	if err := c.sayBye(); err != nil {
		return c.opError("disconnect", err)
	}
	select {
	case <-c.parted:
		return c.opErrorOrNil("disconnect", c.partErr)
	case <-ctx.Done():
		return c.opError("disconnect", ctx.Err())
	}
}

// Close ends the connection: it tells the peer, waits for its confirmation up
// to Config.CloseTimeout unless the connection has failed already, and releases
// everything, regions included. Waiting operations return an error that matches net.ErrClosed.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.end(net.ErrClosed)
	err := c.tearDown()
	if unmapErr := c.unmap(); err == nil {
		err = unmapErr
	}
	return c.opErrorOrNil("close", err)
}

// abort is Close without a goodbye, for a connection that did not come about
// or that nobody wants any more. The peer learns of it from the ID's end.
func (c *Conn) abort() {
	c.mu.Lock()
	c.connected = false
	c.mu.Unlock()
	if !c.abortLater() {
		_ = c.Close()
	}
}

// tearDown says goodbye and destroys the kernel objects, once; a second caller
// waits for the first.
func (c *Conn) tearDown() error {
	c.tearOnce.Do(func() {
		c.goodbye()
		c.tearErr = c.destroy()
	})
	return c.tearErr
}

// goodbye disconnects and waits a little for the answer. The queue pair is
// still there meanwhile, so that the peer's last operations do not fail.
func (c *Conn) goodbye() {
	c.mu.Lock()
	connected := c.connected
	c.mu.Unlock()
	var down *PortError
	if !connected || c.dev.isGone() || errors.As(c.endErr, &down) {
		// No message leaves. One that waits in a device holds up its removal,
		// and those of other connections (soft-RoCE).
		return
	}
	dead := !errors.Is(c.endErr, net.ErrClosed) || c.suspected()
	if c.sayBye() != nil || dead || c.cfg.CloseTimeout < 0 {
		return // a peer that is known to be gone does not answer
	}
	timer := time.NewTimer(c.cfg.CloseTimeout)
	defer timer.Stop()
	select {
	case <-c.parted:
	case <-timer.C:
	}
}

// deadPatience is how long the end of a connection that has failed waits for the
// kernel to destroy its ID: the goodbye that the kernel takes back first may be
// stuck in the device that failed.
const deadPatience = 50 * time.Millisecond

// idPatience is the end of that wait.
func (c *Conn) idPatience() time.Time {
	if errors.Is(c.endErr, net.ErrClosed) || errors.Is(c.endErr, ErrPeerClosed) || errors.Is(c.endErr, ErrDeviceRemoved) {
		return patience()
	}
	return time.Now().Add(deadPatience)
}

// destroy releases kernel objects, each before what it uses: queue pair,
// completion queue, memory, ID, device. It goes on after an error, and returns
// the first one.
func (c *Conn) destroy() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	if c.qp != nil {
		err := c.qp.Close()
		if err == nil {
			c.sends.lose()
		}
		keep(err)
	}
	if c.cq != nil {
		keep(c.dev.leave(c.cq, c, c.key, c.requests()))
	}
	keep(c.deregister())
	keep(c.id.closeBy(c.idPatience()))
	c.dev.unfollow(c)
	c.dev.put()
	return first
}
