package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// A Test is what is measured.
type Test uint8

// Tests.
const (
	Latency   Test = 1 // one message at a time
	Bandwidth Test = 2 // as many as fit
)

// An Op is how data moves.
type Op uint8

// Ops.
const (
	Send  Op = 1
	Write Op = 2
	Read  Op = 3
)

// String returns "send", "write" or "read".
func (o Op) String() string {
	return [...]string{"", "send", "write", "read"}[min(o, 3)]
}

// A Mode is how a side waits for completions.
type Mode uint8

// Modes.
const (
	Poll     Mode = 1 // look without end
	Event    Mode = 2 // sleep until the kernel wakes
	Adaptive Mode = 3 // look for a while, then sleep
)

// String returns "poll", "event" or "adaptive".
func (m Mode) String() string {
	return [...]string{"", "poll", "event", "adaptive"}[min(m, 3)]
}

// Limits of what a server does for a client.
const (
	MaxSize  = 64 << 20 // bytes of a message
	MaxDepth = 4096     // messages under way on one queue pair
	MaxQPs   = 64
)

// Params say what to measure. All are needed, except where it says otherwise.
type Params struct {
	Test Test
	Op   Op
	Mode Mode
	Spin time.Duration // how long Adaptive looks before it sleeps

	Size  int // bytes of a message
	QPs   int
	Depth int // messages under way on each queue pair; 1 with Latency
	Batch int // requests for one doorbell; with Bandwidth
	// CQMod is how many sends have one completion; with Bandwidth.
	CQMod int
	// Inline is up to which size messages travel inside of the request.
	Inline int

	// Messages is how many to measure; 0 to measure for Duration instead.
	Messages uint64
	Duration time.Duration
	// Warmup is how many messages come before, unmeasured.
	Warmup uint64

	// Interval is how often OnInterval is called; 0 for never.
	Interval   time.Duration
	OnInterval func(Interval)
}

// recvDepth is how many receives a side posts: eight for each message under
// way and no less than perftest, so that a receiver that is a little late does
// not stop the sender.
func (p *Params) recvDepth() int { return min(max(8*p.Depth, 512), MaxDepth) }

// request is what the client asks of the server, in private data.
type request struct {
	Test      Test
	Op        Op
	Mode      Mode
	SpinUS    uint32
	Size      uint32
	RecvDepth uint16
	Inline    uint16
	Index     uint16 // of this queue pair
	QPs       uint16
	Token     uint64 // what queue pairs of one client have in common
	Addr      uint64 // of the client's memory, for the answers to writes
	RKey      uint32
}

const (
	magic       = 0x52504231 // "RPB1"
	requestSize = 44         // of the 56 that a connect request may carry
	replySize   = 24
)

// ErrProtocol is matched when the other end does not speak this protocol.
var ErrProtocol = errors.New("not rdmaprobe's bench protocol")

func (r *request) marshal() []byte {
	b := make([]byte, 0, requestSize)
	b = binary.BigEndian.AppendUint32(b, magic)
	b = append(b, byte(r.Test), byte(r.Op), byte(r.Mode), 0)
	b = binary.BigEndian.AppendUint32(b, r.SpinUS)
	b = binary.BigEndian.AppendUint32(b, r.Size)
	b = binary.BigEndian.AppendUint16(b, r.RecvDepth)
	b = binary.BigEndian.AppendUint16(b, r.Inline)
	b = binary.BigEndian.AppendUint16(b, r.Index)
	b = binary.BigEndian.AppendUint16(b, r.QPs)
	b = binary.BigEndian.AppendUint64(b, r.Token)
	b = binary.BigEndian.AppendUint64(b, r.Addr)
	return binary.BigEndian.AppendUint32(b, r.RKey)
}

// unmarshal reads what a client sent, and refuses what no client sends.
func (r *request) unmarshal(b []byte) error {
	if len(b) < requestSize || binary.BigEndian.Uint32(b) != magic {
		return ErrProtocol
	}
	v := request{
		Test: Test(b[4]), Op: Op(b[5]), Mode: Mode(b[6]),
		SpinUS: binary.BigEndian.Uint32(b[8:]), Size: binary.BigEndian.Uint32(b[12:]),
		RecvDepth: binary.BigEndian.Uint16(b[16:]), Inline: binary.BigEndian.Uint16(b[18:]),
		Index: binary.BigEndian.Uint16(b[20:]), QPs: binary.BigEndian.Uint16(b[22:]), Token: binary.BigEndian.Uint64(b[24:]),
		Addr: binary.BigEndian.Uint64(b[32:]), RKey: binary.BigEndian.Uint32(b[40:]),
	}
	switch {
	case v.Test < Latency || v.Test > Bandwidth || v.Op < Send || v.Op > Read || v.Mode < Poll || v.Mode > Adaptive:
		return fmt.Errorf("%w: test %d, operation %d, mode %d", ErrProtocol, v.Test, v.Op, v.Mode)
	case v.Size == 0 || v.Size > MaxSize:
		return fmt.Errorf("%w: messages of %d bytes, allowed are 1 to %d", ErrProtocol, v.Size, MaxSize)
	case v.RecvDepth == 0 || v.RecvDepth > MaxDepth:
		return fmt.Errorf("%w: depth of %d, allowed are 1 to %d", ErrProtocol, v.RecvDepth, MaxDepth)
	case v.QPs == 0 || v.QPs > MaxQPs || v.Index >= v.QPs || v.Test == Latency && v.QPs != 1:
		return fmt.Errorf("%w: queue pair %d of %d", ErrProtocol, v.Index, v.QPs)
	case v.Addr+uint64(v.Size) < v.Addr:
		return fmt.Errorf("%w: memory of %d bytes at %#x", ErrProtocol, v.Size, v.Addr)
	case v.SpinUS > 10_000_000:
		return fmt.Errorf("%w: looking for %d µs", ErrProtocol, v.SpinUS)
	}
	*r = v
	return nil
}

func (r *request) spin() time.Duration { return time.Duration(r.SpinUS) * time.Microsecond }

// reply tells the client where the server's memory is.
type reply struct {
	Addr uint64
	RKey uint32
	Size uint32
}

func (r *reply) marshal() []byte {
	b := make([]byte, 0, replySize)
	b = binary.BigEndian.AppendUint32(b, magic)
	b = binary.BigEndian.AppendUint32(b, r.RKey)
	b = binary.BigEndian.AppendUint64(b, r.Addr)
	b = binary.BigEndian.AppendUint32(b, r.Size)
	return append(b, 0, 0, 0, 0)
}

func (r *reply) unmarshal(b []byte) error {
	if len(b) < replySize || binary.BigEndian.Uint32(b) != magic {
		return ErrProtocol
	}
	v := reply{RKey: binary.BigEndian.Uint32(b[4:]), Addr: binary.BigEndian.Uint64(b[8:]), Size: binary.BigEndian.Uint32(b[16:])}
	if v.Size == 0 || v.Addr+uint64(v.Size) < v.Addr {
		return fmt.Errorf("%w: memory of %d bytes at %#x", ErrProtocol, v.Size, v.Addr)
	}
	*r = v
	return nil
}
