package rping

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Stats is what a server did for one client.
type Stats struct {
	Pings uint64 // complete ones
	Bytes uint64 // of their data, one way
}

// ServeOptions change how a client is served. A nil pointer means defaults.
type ServeOptions struct {
	// Idle ends a connection on which one step took so long; 0 means never.
	// A client whose machine died does not say goodbye, and one that posts
	// no receive lets the answer wait for ever.
	Idle time.Duration

	// First ends a connection whose client has not begun its first ping within
	// that time; 0 means as with any other ping. A client that connects and says
	// nothing costs as much as one that pings.
	First time.Duration

	// OnPing, if not nil, sees the data of each ping after it was read.
	OnPing func(seq uint64, data []byte)
}

// ErrIdle is returned for a client that was silent for too long.
var ErrIdle = errors.New("client was silent for too long")

// Serve answers a client's pings until it disconnects, and returns what was
// done. The error is nil when the client left between two pings; it is a
// *[StepError] that matches [ErrProtocol] when it sent what it must not, io.EOF
// when it left in the middle of a ping, [ErrIdle], or what the transport says.
// The connection is the caller's to close, and is of no more use.
func Serve(ctx context.Context, t Transport, opts *ServeOptions) (Stats, error) {
	s := &session{t: t}
	if opts != nil {
		s.opts = *opts
	}
	err := s.run(ctx)
	if s.mem != nil {
		err = errors.Join(err, s.mem.Close())
	}
	return s.stats, err
}

// session is one client being served.
type session struct {
	t     Transport
	opts  ServeOptions
	mem   Memory // holds the data; grows with what clients ask for
	stats Stats
}

func (s *session) run(ctx context.Context) error {
	for {
		src, err := s.recvInfo(ctx, s.patience())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return s.failed("receive address of data", err)
		}
		last, err := s.ping(ctx, src)
		if err != nil || last {
			return err
		}
	}
}

// ping answers one ping. last means that the client was gone once it had its
// answer.
func (s *session) ping(ctx context.Context, src Info) (last bool, err error) {
	size := int(src.Size)
	if err := s.room(size); err != nil {
		return false, s.failed("allocate memory", err)
	}
	read := func(ctx context.Context) error { return s.t.Read(ctx, s.mem, src) }
	if err := bounded(ctx, s.opts.Idle, read); err != nil {
		return false, s.failed("read the client's data", err)
	}
	if s.opts.OnPing != nil {
		s.opts.OnPing(s.stats.Pings, s.mem.Bytes()[:size])
	}
	if err := s.goAhead(ctx); err != nil {
		return false, s.failed("tell the client to go ahead", err)
	}
	dst, err := s.recvInfo(ctx, s.opts.Idle)
	if err != nil {
		return false, s.failed("receive address for the answer", err)
	}
	if dst.Size < src.Size {
		err := fmt.Errorf("%w: %d bytes to write back into memory of %d", ErrProtocol, src.Size, dst.Size)
		return false, s.failed("write the data back", err)
	}
	write := func(ctx context.Context) error { return s.t.Write(ctx, dst, s.mem, size) }
	if err := bounded(ctx, s.opts.Idle, write); err != nil {
		return false, s.failed("write the data back", err)
	}
	err = s.goAhead(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, s.failed("tell the client that its data is back", err)
	}
	// A client may disconnect as soon as it has the message, before its
	// device has confirmed it: the end of the connection is then all that
	// this side sees of it.
	s.stats.Pings++
	s.stats.Bytes += uint64(size)
	return err != nil, nil
}

// room makes the memory hold n bytes.
func (s *session) room(n int) error {
	if s.mem != nil && len(s.mem.Bytes()) >= n {
		return nil
	}
	if s.mem != nil {
		old := s.mem
		s.mem = nil
		if err := old.Close(); err != nil {
			return err
		}
	}
	mem, err := s.t.Alloc(n, Private)
	s.mem = mem
	if err != nil {
		s.mem = nil
	}
	return err
}

// patience is how long the next ping may be away; 0 means for ever.
func (s *session) patience() time.Duration {
	if first := s.opts.First; s.stats.Pings == 0 && first > 0 && (s.opts.Idle <= 0 || first < s.opts.Idle) {
		return first
	}
	return s.opts.Idle
}

func (s *session) recvInfo(ctx context.Context, limit time.Duration) (info Info, err error) {
	var b [InfoSize]byte
	var n int
	err = bounded(ctx, limit, func(ctx context.Context) (err error) {
		n, err = s.t.Recv(ctx, b[:])
		return err
	})
	if err != nil {
		return Info{}, err
	}
	if n > len(b) {
		return Info{}, wrongLength(n)
	}
	err = info.UnmarshalBinary(b[:n])
	return info, err
}

// bounded does one step within the client's time; 0 means without a limit.
func bounded(ctx context.Context, limit time.Duration, step func(context.Context) error) error {
	if limit <= 0 {
		return step(ctx)
	}
	wait, cancel := context.WithTimeoutCause(ctx, limit, ErrIdle)
	defer cancel()
	err := step(wait)
	if err != nil && ctx.Err() == nil && context.Cause(wait) == ErrIdle {
		return fmt.Errorf("%w (%v)", ErrIdle, limit)
	}
	return err
}

// goAhead sends a message without content, as long as the client expects it.
func (s *session) goAhead(ctx context.Context) error {
	var b [InfoSize]byte
	return bounded(ctx, s.opts.Idle, func(ctx context.Context) error { return s.t.Send(ctx, b[:]) })
}

func (s *session) failed(step string, err error) error {
	return &StepError{Seq: s.stats.Pings, Step: step, Err: err}
}
