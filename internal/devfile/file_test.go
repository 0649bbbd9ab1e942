package devfile

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// scripted is a kernel and its only handle; each call returns what the test
// put there.
type scripted struct {
	openErr, adoptErr, closeErr error

	n      int
	err    error
	closes int
	wakes  int
}

func (s *scripted) Open(string) (Handle, error)               { return s, s.openErr }
func (s *scripted) Adopt(int, string) (Handle, error)         { return s, s.adoptErr }
func (s *scripted) AdoptSleeper(int, string) (Sleeper, error) { return s, s.adoptErr }
func (s *scripted) Sleep() bool                               { return s.n > 0 }
func (s *scripted) Wake()                                     { s.wakes++ }
func (s *scripted) Write([]byte) (int, error)                 { return s.n, s.err }
func (s *scripted) Ring([]byte) (int, error)                  { return s.n, s.err }
func (s *scripted) Read([]byte) (int, error)                  { return s.n, s.err }
func (s *scripted) Ioctl(uint, unsafe.Pointer) error          { return s.err }
func (s *scripted) Mmap(int64, int, int) ([]byte, error)      { return nil, s.err }
func (s *scripted) Munmap(...[]byte) error                    { return s.err }
func (s *scripted) WithFD(fn func(int)) error                 { fn(3); return s.err }
func (s *scripted) WaitRead(try func() error) error           { return try() }
func (s *scripted) SetReadDeadline(time.Time) error           { return nil }
func (s *scripted) Close() error                              { s.closes++; return s.closeErr }
func (s *scripted) file(tb testing.TB) *File                  { tb.Helper(); return must(Open(s, "/dev/x"))(tb) }
func must[T any](v T, err error) func(testing.TB) T {
	return func(tb testing.TB) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

func TestOpenAndAdoptErrors(t *testing.T) {
	k := &scripted{openErr: &os.PathError{Op: "open", Path: "/dev/x", Err: syscall.EPERM}}
	_, err := Open(k, "/dev/x")
	if !errors.Is(err, syscall.EPERM) || err.Error() != "open /dev/x: operation not permitted" {
		t.Errorf("got %q", err)
	}
	k = &scripted{adoptErr: syscall.EMFILE}
	if _, err := k.file(t).Adopt(7, "events"); !errors.Is(err, syscall.EMFILE) {
		t.Errorf("got %v", err)
	}
}

// TestWaitRefused: a command that waits says of EACCES what any other does.
func TestWaitRefused(t *testing.T) {
	f := (&scripted{err: syscall.EACCES}).file(t)
	err := f.WaitRead(context.Background(), func() error { return f.TryWrite(nil) })
	if !errors.Is(err, ErrCredentialsChanged) || !errors.Is(err, syscall.EACCES) {
		t.Errorf("got %v", err)
	}
}

func TestWriteErrors(t *testing.T) {
	for _, tc := range []struct {
		name string
		n    int
		err  error
		want []error
		text string
	}{
		{"whole", 4, nil, nil, ""},
		{"short", 3, nil, []error{syscall.EIO}, "write /dev/x: input/output error"},
		{"refused", 0, syscall.EACCES, []error{syscall.EACCES, ErrCredentialsChanged, os.ErrPermission}, "credentials changed"},
		{"try again", 0, syscall.EAGAIN, []error{syscall.EAGAIN}, "write /dev/x: "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := &scripted{n: tc.n, err: tc.err}
			err := k.file(t).Write(make([]byte, 4))
			for _, w := range tc.want {
				if !errors.Is(err, w) {
					t.Errorf("%v does not match %v", err, w)
				}
			}
			if (err == nil) != (tc.want == nil) || err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTryWriteIsBare(t *testing.T) {
	for _, tc := range []struct {
		n         int
		err, want error
	}{{4, nil, nil}, {0, syscall.EAGAIN, syscall.EAGAIN}, {2, nil, syscall.EIO}} {
		k := &scripted{n: tc.n, err: tc.err}
		if err := k.file(t).TryWrite(make([]byte, 4)); err != tc.want { //nolint:errorlint // identity is the point
			t.Errorf("%d of 4 bytes, %v: got %v", tc.n, tc.err, err)
		}
		if err := k.file(t).Ring(make([]byte, 4)); err != tc.want { //nolint:errorlint // identity is the point
			t.Errorf("ring of %d of 4 bytes, %v: got %v", tc.n, tc.err, err)
		}
	}
}

// TestErrorsAfterClose: an errno of a call that ran before Close stays, what
// Close caused becomes net.ErrClosed.
func TestErrorsAfterClose(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want error
	}{
		{syscall.ENOMEM, syscall.ENOMEM},
		{syscall.EBADF, net.ErrClosed},
		{os.ErrClosed, net.ErrClosed},
		{errors.New("use of closed file"), net.ErrClosed},
	} {
		k := &scripted{}
		f := k.file(t)
		_ = f.Close()
		k.err = tc.err
		if err := f.Ioctl(1, nil); !errors.Is(err, tc.want) {
			t.Errorf("%v became %v, want %v", tc.err, err, tc.want)
		}
	}
}

func TestCloseOnce(t *testing.T) {
	k := &scripted{closeErr: syscall.EIO}
	f := k.file(t)
	for range 3 {
		if err := f.Close(); !errors.Is(err, syscall.EIO) {
			t.Errorf("close: %v", err)
		}
	}
	if k.closes != 1 {
		t.Errorf("%d closes", k.closes)
	}
}

func TestWaitReadContextBeforeTurn(t *testing.T) {
	f := (&scripted{}).file(t)
	<-f.turn // somebody else waits
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if err := f.WaitRead(ctx, func() error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestErrorTimeout(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{context.DeadlineExceeded, true}, {syscall.ETIMEDOUT, true}, {os.ErrDeadlineExceeded, true},
		{context.Canceled, false}, {syscall.EIO, false}, {net.ErrClosed, false},
	} {
		if e := (&Error{Op: "wait", Path: "x", Err: tc.err}); e.Timeout() != tc.want {
			t.Errorf("%v: Timeout is %v", tc.err, e.Timeout())
		}
	}
}
