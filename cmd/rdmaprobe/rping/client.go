package rping

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Client sends pings over a connection. One goroutine uses it at a time.
type Client struct {
	t      Transport
	start  Memory // what the server reads
	sink   Memory // where it writes
	want   []byte // what was sent, out of the server's reach
	got    []byte // what came back, likewise
	buffer []byte // of messages
	next   uint64
}

// A Pong is a ping that came back as it was sent.
type Pong struct {
	Seq  uint64        // counted from 0
	Time time.Duration // from the first message to the verified data

	// Data is the data that came back; it is valid until the next ping.
	Data []byte
}

// NewClient prepares pings with size bytes of data, MinSize to MaxSize; 0
// means DefaultSize. Close it before the connection.
func NewClient(t Transport, size int) (*Client, error) {
	if size == 0 {
		size = DefaultSize
	}
	if size < MinSize || size > MaxSize {
		return nil, fmt.Errorf("size of %d bytes, allowed are %d to %d", size, MinSize, MaxSize)
	}
	start, err := t.Alloc(size, PeerReads)
	if err != nil {
		return nil, err
	}
	sink, err := t.Alloc(size, PeerWrites)
	if err != nil {
		return nil, errors.Join(err, start.Close())
	}
	return &Client{t: t, start: start, sink: sink, want: make([]byte, size), got: make([]byte, size), buffer: make([]byte, 0, InfoSize)}, nil
}

// StartAt numbers the pings that follow from seq on, for a program that has
// sent others over the connection before.
func (c *Client) StartAt(seq uint64) { c.next = seq }

// Close releases the memory. The connection stays open.
func (c *Client) Close() error { return errors.Join(c.start.Close(), c.sink.Close()) }

// Ping sends one ping, waits for it to come back and verifies it. After an
// error that is not a mismatch the connection is of no more use: which message
// comes next is not known. Errors are *[StepError] and match [ErrMismatch],
// [ErrProtocol], io.EOF when the server ended the connection, and what the
// transport says.
func (c *Client) Ping(ctx context.Context) (Pong, error) {
	seq := c.next
	c.next++
	Fill(c.want, seq)
	copy(c.start.Bytes(), c.want)
	clear(c.sink.Bytes())
	begin := time.Now()
	if err := c.exchange(ctx, seq); err != nil {
		return Pong{Seq: seq}, err
	}
	copy(c.got, c.sink.Bytes())
	err := c.verify(seq)
	pong := Pong{Seq: seq, Time: time.Since(begin), Data: c.got}
	if err != nil {
		return pong, &StepError{Seq: seq, Step: "verify data", Err: err}
	}
	return pong, nil
}

// exchange has the server read the data, and then write it back.
func (c *Client) exchange(ctx context.Context, seq uint64) error {
	phases := []struct {
		mem        Memory
		send, recv string
	}{
		{c.start, "send address of data", "wait for the server to read the data"},
		{c.sink, "send address for the answer", "wait for the server to write the data back"},
	}
	for _, p := range phases {
		c.buffer, _ = p.mem.Info().AppendBinary(c.buffer[:0]) // never fails
		if err := c.t.Send(ctx, c.buffer); err != nil {
			return &StepError{Seq: seq, Step: p.send, Err: err}
		}
		if err := recvGoAhead(ctx, c.t); err != nil {
			return &StepError{Seq: seq, Step: p.recv, Err: err}
		}
	}
	return nil
}

// recvGoAhead takes a message whose content does not matter: the C server
// sends whatever its buffer holds.
func recvGoAhead(ctx context.Context, t Transport) error {
	var b [InfoSize]byte
	n, err := t.Recv(ctx, b[:])
	if err != nil {
		return err
	}
	if n != InfoSize {
		return wrongLength(n)
	}
	return nil
}

// verify compares copies: the server may write to the sink at any time, and a device that
// does not check rights lets it write to the start.
func (c *Client) verify(seq uint64) error {
	want, got := c.want, c.got
	var e *MismatchError
	for i := range want {
		if want[i] == got[i] {
			continue
		}
		if e == nil {
			e = &MismatchError{Seq: seq, Offset: i, Size: len(want), Want: want[i], Got: got[i]}
		}
		e.Differ++
	}
	if e == nil {
		return nil
	}
	return e
}
