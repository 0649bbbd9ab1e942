package cm

import (
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
)

// closeWithin is the default of Config.CloseTimeout; tests change it.
var closeWithin = time.Second

// A Config shapes a connection's queues. The zero value, like a nil pointer,
// means all defaults. It must not change once it was passed.
type Config struct {
	// SendDepth is how many operations (send, write, read, atomic) may be
	// outstanding; further ones wait. 0 means 16.
	SendDepth int

	// RecvDepth is how many received messages wait for Recv, and RecvSize
	// how many bytes each may have. The buffers are posted before the
	// connection is up and again as soon as a message is released. 0 means
	// 16 messages of 4096 bytes.
	//
	// RecvDepth*RecvSize bytes are locked in RAM while the connection lives. The
	// first SendCopy of more than MaxInline bytes locks SendDepth*RecvSize more:
	// with the defaults 64 KiB, and twice as much from then on.
	RecvDepth int
	RecvSize  int

	// MaxSGE is how many slices one Send or Write may gather. 0 means 4.
	MaxSGE int

	// MaxInline is how many bytes SendCopy may put into the request itself
	// instead of a buffer. 0 means 64, negative none.
	MaxInline int

	// LocalReads is how many RDMA reads and atomics this side may have
	// outstanding (C: initiator depth), PeerReads how many it serves at a
	// time for the peer (C: responder resources). 0 means as many as the
	// device can, up to 16; negative none. The peer's wishes lower both.
	LocalReads int
	PeerReads  int

	// PathMTU caps the bytes of data that one packet carries: 256, 512, 1024,
	// 2048 or 4096; 0 means what the path allows as far as the own port knows. It is
	// for paths that drop large packets: the kernel takes the path's from the own
	// interface, and does not look further. Both ends must have the same, because the
	// connection manager does not carry it: messages of more than one packet fail
	// otherwise. Without effect on iWARP.
	PathMTU int

	// RetryCount is how often a packet without answer is sent again, 1 to 7;
	// negative not at all. 0 means 6: soft-RoCE takes 7 for "for ever" and never
	// notices a dead peer.
	RetryCount int

	// RNRRetryCount is how often the peer tries again when this side has no
	// receive posted, 1 to 6; 0 means 7, for ever; negative not at all: a message
	// without a receive ends the connection. The wait of an operation
	// is bounded by its context in any case.
	//
	// Kernels before 6.0 repeat without a pause over soft-RoCE. Between two
	// ends on one host 7 would be a loop in the kernel that nothing ends, and
	// counts as 6 there: a message without a receive ends the connection.
	RNRRetryCount int

	// ACKTimeout is how long the device waits for an acknowledgement before it
	// sends again, RetryCount times; it is rounded up to 4.096 µs · 2^n, at most 2.4
	// hours. 0 leaves the choice to the kernel's connection manager: half a second
	// or two on RoCE (cma.c, CMA_IBOE_PACKET_LIFETIME). The side that connects
	// decides for both; what the other side says holds for its own requests. It
	// means nothing on iWARP, where TCP repeats.
	ACKTimeout time.Duration

	// KeepAlive makes a connection on which nothing happens ask whether its peer
	// is there. It is on by default.
	KeepAlive KeepAlive

	// PrivateCQ gives the connection a completion queue of its own. By
	// default connections on one device share queues, which costs fewer
	// system calls and descriptors.
	PrivateCQ bool

	// PD is the protection domain of the connection's memory, see [OpenPD]. nil
	// gives the connection one of its own: no other peer than its own reaches
	// its regions. A connection on another device than the PD's is refused
	// before the peer hears of it, and a listener on such an address at once
	// (syscall.EINVAL); a request that is refused so can still be answered.
	PD *PD

	// CloseTimeout bounds how long Close waits for the peer to confirm the
	// end of the connection. 0 means one second, negative not to wait.
	CloseTimeout time.Duration
}

// requests is how many work requests a connection may have outstanding.
func (c *Config) requests() int { return c.SendDepth + c.RecvDepth }

// ackUnit is the unit of ACK time-outs, and maxACKTimeout the longest: the exponent
// has five bits (InfiniBand specification, Local Ack Timeout).
const (
	ackUnit       = 4096 * time.Nanosecond
	maxACKTimeout = ackUnit << 31
)

// ackExponent returns the smallest exponent that is no less than the time-out.
func (c *Config) ackExponent() uint8 {
	n := uint8(1)
	for ackUnit<<n < c.ACKTimeout {
		n++
	}
	return n
}

// maxBuffers is the most memory for messages of a connection, in bytes.
const maxBuffers int64 = 1 << 40

// maxReads is the usual limit of hardware for outstanding reads and atomics.
const maxReads = 16

// resolved returns a copy with the defaults filled in, or says what is out of
// range.
func (c *Config) resolved() (Config, error) {
	var r Config
	if c != nil {
		r = *c
	}
	defaults := []struct {
		name     string
		v        *int
		zero     int // what 0 means
		negative int // what a negative value means, or -1 if it is refused
		max      int
	}{
		{"SendDepth", &r.SendDepth, 16, -1, 1 << 20},
		{"RecvDepth", &r.RecvDepth, 16, -1, 1 << 20},
		{"RecvSize", &r.RecvSize, 4096, -1, 1 << 30},
		{"MaxSGE", &r.MaxSGE, 4, -1, 256},
		{"MaxInline", &r.MaxInline, 64, 0, 1 << 16},
		{"LocalReads", &r.LocalReads, maxReads, 0, 255},
		{"PeerReads", &r.PeerReads, maxReads, 0, 255},
		{"RetryCount", &r.RetryCount, 6, 0, 7},
		{"RNRRetryCount", &r.RNRRetryCount, 7, 0, 7},
	}
	for _, d := range defaults {
		switch {
		case *d.v == 0:
			*d.v = d.zero
		case *d.v < 0 && d.negative >= 0:
			*d.v = d.negative
		case *d.v < 0 || *d.v > d.max:
			return r, fmt.Errorf("config: %s is %d, allowed are 0 to %d: %w", d.name, *d.v, d.max, syscall.EINVAL)
		}
	}
	if r.ACKTimeout < 0 || r.ACKTimeout > maxACKTimeout {
		return r, fmt.Errorf("config: ACKTimeout is %v, allowed are 0 to %v: %w", r.ACKTimeout, maxACKTimeout, syscall.EINVAL)
	}
	r.KeepAlive.resolve()
	if n := (int64(r.SendDepth) + int64(r.RecvDepth)) * int64(r.RecvSize); n > min(maxBuffers, math.MaxInt) {
		return r, fmt.Errorf("config: (SendDepth + RecvDepth) × RecvSize is %d bytes, allowed are %d: %w",
			n, int64(min(maxBuffers, math.MaxInt)), syscall.EINVAL)
	}
	if r.PathMTU != 0 && mtuCode(r.PathMTU) == 0 {
		return r, fmt.Errorf("config: PathMTU is %d, allowed are 0, 256, 512, 1024, 2048 and 4096: %w", r.PathMTU, syscall.EINVAL)
	}
	if r.CloseTimeout == 0 {
		r.CloseTimeout = closeWithin
	}
	return r, nil
}

// mtuCode is the kernel's number of a path MTU in bytes, 0 if there is none.
func mtuCode(n int) abi.IBMTU {
	for code := abi.IB_MTU_256; code <= abi.IB_MTU_4096; code++ {
		if n == 128<<code {
			return code
		}
	}
	return 0
}

// capMTU returns the path MTU of a queue pair whose path has another.
func (c *Config) capMTU(path uint32) uint32 {
	if code := uint32(mtuCode(c.PathMTU)); code != 0 && code < path {
		return code
	}
	return path
}
