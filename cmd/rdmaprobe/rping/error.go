package rping

import (
	"errors"
	"fmt"
)

// Causes to test for with errors.Is.
var (
	// ErrProtocol: the peer sent what the protocol does not allow.
	ErrProtocol = errors.New("not rping's protocol")

	// ErrMismatch: the data did not come back as it was sent. The
	// *MismatchError in the chain says where.
	ErrMismatch = errors.New("data mismatch")
)

// A MismatchError is data that came back different.
type MismatchError struct {
	Seq       uint64 // the ping, counted from 0
	Offset    int    // of the first byte that differs
	Differ    int    // how many bytes differ
	Size      int    // of the data
	Want, Got byte   // at Offset
}

// Error names the first byte that differs.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("%v in ping %d: %d of %d bytes differ, the first at offset %d: sent %#02x, got back %#02x",
		ErrMismatch, e.Seq, e.Differ, e.Size, e.Offset, e.Want, e.Got)
}

// Is matches ErrMismatch.
func (e *MismatchError) Is(target error) bool { return target == ErrMismatch }

// A StepError says which part of a ping failed.
type StepError struct {
	Seq  uint64 // the ping, counted from 0
	Step string // for instance "read the client's data"
	Err  error
}

// Error reads like: ping 3: read the client's data: …
func (e *StepError) Error() string { return fmt.Sprintf("ping %d: %s: %v", e.Seq, e.Step, e.Err) }

// Unwrap returns the cause.
func (e *StepError) Unwrap() error { return e.Err }

// Timeout reports whether the cause was a time-out.
func (e *StepError) Timeout() bool {
	var t interface{ Timeout() bool }
	return errors.As(e.Err, &t) && t.Timeout()
}
