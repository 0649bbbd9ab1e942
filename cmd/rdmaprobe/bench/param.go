package bench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
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
	// Both has the server send as well, as many messages or as long as the
	// client; with Bandwidth.
	Both bool

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

// request is the wish for a server of these parameters, but for what each queue
// pair has of its own.
func (p *Params) request() request {
	r := request{
		Test: p.Test, Op: p.Op, Mode: p.Mode, SpinUS: uint32(p.Spin.Microseconds()), Size: uint32(p.Size),
		RecvDepth: uint16(p.recvDepth()), Inline: uint16(p.Inline), QPs: uint16(p.QPs),
	}
	if p.Test == Latency {
		r.RecvDepth = 16 // two messages are under way at most
	}
	if p.Both {
		r.Depth, r.Batch, r.CQMod = uint16(p.Depth), uint16(p.Batch), uint16(min(p.CQMod, p.Depth))
		r.Limit = uint32(min(p.Messages, math.MaxUint32))
		if p.Messages == 0 {
			r.Timed, r.Limit = true, uint32(min(max(p.Duration.Milliseconds(), 1), math.MaxUint32))
		}
	}
	return r
}

// params is what a server measures of both directions.
func (r *request) params() Params {
	p := Params{Test: r.Test, Op: r.Op, Mode: r.Mode, Spin: r.spin(), Size: int(r.Size), QPs: int(r.QPs), Both: true,
		Depth: int(r.Depth), Batch: int(r.Batch), CQMod: int(r.CQMod), Inline: int(r.Inline)}
	if r.Timed {
		p.Duration = time.Duration(r.Limit) * time.Millisecond
	} else {
		p.Messages = uint64(r.Limit)
	}
	return p
}

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
	Addr      uint64 // of the client's memory, for what the server writes or reads
	RKey      uint32

	// What follows says how the server is to send; zero if it only receives.
	Depth uint16
	Batch uint16
	CQMod uint16
	Timed bool   // whether Limit is milliseconds, and not messages
	Limit uint32 // 0 if the server only receives
}

const (
	magic       = 0x52504232 // "RPB2"
	requestSize = 54         // of the 56 that a connect request may carry
	replySize   = 32
)

// both tells whether the server sends as well.
func (r *request) both() bool { return r.Limit > 0 }

// ErrProtocol is matched when the other end does not speak this protocol.
var ErrProtocol = errors.New("not rdmaprobe's bench protocol")

func (r *request) marshal() []byte {
	b := make([]byte, 0, requestSize)
	b = binary.BigEndian.AppendUint32(b, magic)
	timed := byte(0)
	if r.Timed {
		timed = 1
	}
	b = append(b, byte(r.Test), byte(r.Op), byte(r.Mode), timed)
	b = binary.BigEndian.AppendUint32(b, r.SpinUS)
	b = binary.BigEndian.AppendUint32(b, r.Size)
	b = binary.BigEndian.AppendUint16(b, r.RecvDepth)
	b = binary.BigEndian.AppendUint16(b, r.Inline)
	b = binary.BigEndian.AppendUint16(b, r.Index)
	b = binary.BigEndian.AppendUint16(b, r.QPs)
	b = binary.BigEndian.AppendUint64(b, r.Token)
	b = binary.BigEndian.AppendUint64(b, r.Addr)
	b = binary.BigEndian.AppendUint32(b, r.RKey)
	b = binary.BigEndian.AppendUint16(b, r.Depth)
	b = binary.BigEndian.AppendUint16(b, r.Batch)
	b = binary.BigEndian.AppendUint16(b, r.CQMod)
	return binary.BigEndian.AppendUint32(b, r.Limit)
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
		Depth: binary.BigEndian.Uint16(b[44:]), Batch: binary.BigEndian.Uint16(b[46:]), CQMod: binary.BigEndian.Uint16(b[48:]),
		Timed: b[7] == 1, Limit: binary.BigEndian.Uint32(b[50:]),
	}
	if err := v.check(); err != nil {
		return err
	}
	*r = v
	return nil
}

// check refuses what is out of range.
func (r *request) check() error {
	v := *r
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
	case v.both() && (v.Test != Bandwidth || v.Depth == 0 || v.Depth > MaxDepth || v.Batch == 0 || v.Batch > v.Depth || v.CQMod == 0):
		return fmt.Errorf("%w: both directions with depth %d, batch %d, completions for %d", ErrProtocol, v.Depth, v.Batch, v.CQMod)
	case v.SpinUS > 10_000_000:
		return fmt.Errorf("%w: looking for %d µs", ErrProtocol, v.SpinUS)
	}
	return nil
}

func (r *request) spin() time.Duration { return time.Duration(r.SpinUS) * time.Microsecond }

// reply tells the client where the server's memory is, and where the server
// itself is.
type reply struct {
	Addr  uint64
	RKey  uint32
	Size  uint32
	Place Place
}

func (r *reply) marshal() []byte {
	b := make([]byte, 0, replySize)
	b = binary.BigEndian.AppendUint32(b, magic)
	b = binary.BigEndian.AppendUint32(b, r.RKey)
	b = binary.BigEndian.AppendUint64(b, r.Addr)
	b = binary.BigEndian.AppendUint32(b, r.Size)
	b = binary.BigEndian.AppendUint16(b, uint16(int16(r.Place.Device)))
	b = binary.BigEndian.AppendUint16(b, uint16(int16(r.Place.CPU)))
	b = binary.BigEndian.AppendUint32(b, uint32(r.Place.Mbps))
	return append(b, 0, 0, 0, 0)
}

func (r *reply) unmarshal(b []byte) error {
	if len(b) < replySize || binary.BigEndian.Uint32(b) != magic {
		return ErrProtocol
	}
	v := reply{RKey: binary.BigEndian.Uint32(b[4:]), Addr: binary.BigEndian.Uint64(b[8:]), Size: binary.BigEndian.Uint32(b[16:]),
		Place: Place{
			Device: max(int(int16(binary.BigEndian.Uint16(b[20:]))), unknownNode),
			CPU:    max(int(int16(binary.BigEndian.Uint16(b[22:]))), unknownNode),
			Mbps:   int(binary.BigEndian.Uint32(b[24:]) & math.MaxInt32),
		}}
	if v.Size == 0 || v.Addr+uint64(v.Size) < v.Addr {
		return fmt.Errorf("%w: memory of %d bytes at %#x", ErrProtocol, v.Size, v.Addr)
	}
	*r = v
	return nil
}

// maxReport is the longest report.
const maxReport = 32

// reportSize is how long a report is: another length than that of messages.
func reportSize(size int) int {
	if size == 24 {
		return maxReport
	}
	return 24
}

// A Report is what the server of both directions has measured: its last
// message.
type Report struct {
	Messages uint64
	Took     time.Duration
}

func (r Report) put(b []byte) {
	clear(b)
	binary.BigEndian.PutUint32(b, magic)
	binary.BigEndian.PutUint64(b[8:], r.Messages)
	binary.BigEndian.PutUint64(b[16:], uint64(r.Took))
}

func (r *Report) take(b []byte) error {
	if len(b) < 24 || binary.BigEndian.Uint32(b) != magic {
		return fmt.Errorf("%w: no report", ErrProtocol)
	}
	v := Report{Messages: binary.BigEndian.Uint64(b[8:]), Took: time.Duration(binary.BigEndian.Uint64(b[16:]))}
	if v.Took <= 0 {
		return fmt.Errorf("%w: a report of %d messages in %v", ErrProtocol, v.Messages, v.Took)
	}
	*r = v
	return nil
}
