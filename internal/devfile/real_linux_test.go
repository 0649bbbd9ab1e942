package devfile

import (
	"context"
	"errors"
	"net"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// device is a socket pair: f stands for a device that announces data by
// readability, feed is the kernel's end.
type device struct {
	f    *File
	feed int
}

func newDevice(tb testing.TB) device {
	tb.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		tb.Fatal(err)
	}
	h, err := realKernel.Adopt(fds[0], "pair")
	if err != nil {
		tb.Fatal(err)
	}
	f := newFile(realKernel, h, "pair")
	tb.Cleanup(func() {
		_ = f.Close()
		_ = unix.Close(fds[1])
	})
	return device{f: f, feed: fds[1]}
}

func (d device) send(tb testing.TB, b byte) {
	tb.Helper()
	if _, err := unix.Write(d.feed, []byte{b}); err != nil {
		tb.Fatal(err)
	}
}

// read waits for one byte.
func (d device) read(ctx context.Context) (byte, error) {
	var b [1]byte
	err := d.f.WaitRead(ctx, func() error {
		_, err := d.f.TryRead(b[:])
		return err
	})
	return b[0], err
}

func TestAdoptSetsFlags(t *testing.T) {
	d := newDevice(t)
	err := d.f.WithFD(func(fd int) {
		fl, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || fl&unix.O_NONBLOCK == 0 {
			t.Errorf("status flags %#x, %v: want O_NONBLOCK", fl, err)
		}
		fdFlags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		if err != nil || fdFlags&unix.FD_CLOEXEC == 0 {
			t.Errorf("descriptor flags %#x, %v: want FD_CLOEXEC", fdFlags, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAdoptBadDescriptor(t *testing.T) {
	d := newDevice(t)
	_, err := d.f.Adopt(1<<20, "events")
	var e *Error
	if !errors.As(err, &e) || e.Path != "events" || !errors.Is(err, syscall.EBADF) {
		t.Errorf("got %v, want an error about events with EBADF", err)
	}
}

func TestOpenErrors(t *testing.T) {
	_, err := Open(nil, t.TempDir()+"/missing")
	var e *Error
	if !errors.As(err, &e) || e.Op != "open" || !errors.Is(err, os.ErrNotExist) || e.Err != syscall.ENOENT {
		t.Errorf("got %#v, want the bare ENOENT of open", err)
	}
}

func TestOpenDevice(t *testing.T) {
	f, err := Open(nil, "/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	if f.Path() != "/dev/zero" {
		t.Errorf("path %q", f.Path())
	}
	var b [4]byte
	if n, err := f.TryRead(b[:]); n != 4 || err != nil {
		t.Errorf("read: %d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestWaitReadTriesFirst(t *testing.T) {
	d := newDevice(t)
	calls := 0
	err := d.f.WaitRead(t.Context(), func() error { calls++; return syscall.ENOENT })
	if !errors.Is(err, syscall.ENOENT) || calls != 1 {
		t.Errorf("got %v after %d calls, want ENOENT after the first", err, calls)
	}
}

func TestWaitReadWaits(t *testing.T) {
	d := newDevice(t)
	waiting := make(chan struct{})
	var once sync.Once
	var b [1]byte
	done := make(chan error, 1)
	go func() {
		done <- d.f.WaitRead(t.Context(), func() error {
			_, err := d.f.TryRead(b[:])
			once.Do(func() { close(waiting) })
			return err
		})
	}()
	<-waiting
	d.send(t, 7)
	if err := <-done; err != nil || b[0] != 7 {
		t.Errorf("got %d, %v", b[0], err)
	}
}

func TestWaitReadCancel(t *testing.T) {
	d := newDevice(t)
	for range 3 { // the deadline of one wait must not reach the next
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := d.read(ctx); done <- err }()
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) || errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want the context's error", err)
		}
		d.send(t, 9)
		if b, err := d.read(t.Context()); b != 9 || err != nil {
			t.Errorf("wait after a cancelled one: %d, %v", b, err)
		}
	}
}

func TestWaitReadDeadline(t *testing.T) {
	d := newDevice(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := d.read(ctx)
	var e *Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || !e.Timeout() || e.Op != "wait" {
		t.Errorf("got %v, want a time-out of wait", err)
	}
}

// TestWaitReadCancelLosesNothing lets cancellation and data race: a byte is
// either returned or still there.
func TestWaitReadCancelLosesNothing(t *testing.T) {
	d := newDevice(t)
	for i := range 500 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		var got byte
		go func() {
			var err error
			got, err = d.read(ctx)
			done <- err
		}()
		go cancel()
		d.send(t, byte(i))
		if err := <-done; err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("round %d: %v", i, err)
			}
			if got, err = d.read(t.Context()); err != nil {
				t.Fatalf("round %d: byte lost: %v", i, err)
			}
		}
		if got != byte(i) {
			t.Fatalf("round %d: got %d", i, got)
		}
	}
}

func TestConcurrentWaitersTakeTurns(t *testing.T) {
	d := newDevice(t)
	const n = 16
	seen := make(chan byte, n)
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			b, err := d.read(t.Context())
			if err != nil {
				t.Error(err)
			}
			seen <- b
		})
	}
	for i := range n {
		d.send(t, byte(i))
	}
	wg.Wait()
	got := map[byte]bool{}
	for range n {
		got[<-seen] = true
	}
	if len(got) != n {
		t.Errorf("%d different bytes of %d", len(got), n)
	}
}

// TestCancelWhileWaitingForTurn: the second waiter leaves without disturbing
// the first.
func TestCancelWhileWaitingForTurn(t *testing.T) {
	d := newDevice(t)
	first := make(chan error, 1)
	tried := make(chan struct{})
	var once sync.Once
	go func() {
		first <- d.f.WaitRead(t.Context(), func() error {
			once.Do(func() { close(tried) })
			var b [1]byte
			_, err := d.f.TryRead(b[:])
			return err
		})
	}()
	<-tried
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	if _, err := d.read(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("second waiter: %v", err)
	}
	d.send(t, 1)
	if err := <-first; err != nil {
		t.Errorf("first waiter: %v", err)
	}
}

func TestUseAfterClose(t *testing.T) {
	d := newDevice(t)
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := d.f.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if !d.f.Closed() {
		t.Error("Closed is false")
	}
	var n int32
	for name, err := range map[string]error{
		"write": d.f.Write([]byte{1}),
		"ioctl": d.f.Ioctl(unix.TIOCINQ, unsafe.Pointer(&n)),
		"use":   d.f.WithFD(func(int) { t.Error("called with a closed descriptor") }),
		"wait":  d.f.WaitRead(t.Context(), func() error { return nil }),
		"mmap":  second(d.f.Mmap(0, 4096, unix.PROT_READ)),
	} {
		var e *Error
		if !errors.Is(err, net.ErrClosed) || !errors.As(err, &e) || e.Op != name || e.Path != "pair" {
			t.Errorf("%s: %v, want net.ErrClosed", name, err)
		}
	}
	for name, err := range map[string]error{"TryWrite": d.f.TryWrite([]byte{1}), "Ring": d.f.Ring([]byte{1})} {
		if err != ErrClosed { //nolint:errorlint // it is bare
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
	if err := d.f.Munmap(mem); err != nil {
		t.Errorf("munmap after close: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// TestMunmapNeighbours: what lies side by side goes in one piece, in whatever
// order it is named, and nothing else goes with it.
func TestMunmapNeighbours(t *testing.T) {
	d := newDevice(t)
	const page, pages = 4096, 5
	whole, err := unix.MmapPtr(-1, 0, nil, pages*page, unix.PROT_READ, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	mem := unsafe.Slice((*byte)(whole), pages*page)
	piece := func(i int) []byte { return mem[i*page : (i+1)*page : (i+1)*page] }
	if err := d.f.Munmap(piece(4), piece(1), piece(0)); err != nil {
		t.Fatal(err)
	}
	var got []bool
	for i := range pages {
		// The kernel refuses advice on what is not mapped.
		got = append(got, unix.Madvise(piece(i), unix.MADV_NORMAL) == nil)
	}
	if diff := cmp.Diff([]bool{false, false, true, true, false}, got); diff != "" {
		t.Error(diff)
	}
	if err := d.f.Munmap(piece(2), nil); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("munmap of nothing: %v", err)
	}
	if err := d.f.Munmap(piece(3)); err != nil {
		t.Error(err)
	}
}

func TestMmapAndIoctl(t *testing.T) {
	fd, err := unix.MemfdCreate("devfile", unix.MFD_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Ftruncate(fd, 8192); err != nil {
		t.Fatal(err)
	}
	f, err := newDevice(t).f.Adopt(fd, "memfd")
	if err != nil {
		t.Fatal(err)
	}
	mem, err := f.Mmap(4096, 4096, unix.PROT_READ|unix.PROT_WRITE)
	if err != nil {
		t.Fatal(err)
	}
	mem[0] = 1
	if err := f.Munmap(mem); err != nil {
		t.Error(err)
	}
	if _, err := f.Mmap(1, 4096, unix.PROT_READ); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("mmap at an odd offset: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}

	d := newDevice(t)
	d.send(t, 1)
	n := new(int32)
	if err := d.f.Ioctl(unix.TIOCINQ, unsafe.Pointer(n)); err != nil || *n != 1 {
		t.Errorf("FIONREAD: %d, %v", *n, err)
	}
	if err := d.f.Ioctl(0xdead, unsafe.Pointer(n)); !errors.Is(err, syscall.ENOTTY) {
		t.Errorf("unknown ioctl: %v", err)
	}
}

func TestWriteAllocatesNothing(t *testing.T) {
	d := newDevice(t)
	p, sink := []byte{1}, make([]byte, 1)
	n := testing.AllocsPerRun(200, func() {
		if err := d.f.Write(p); err != nil {
			t.Fatal(err)
		}
		if err := d.f.TryWrite(p); err != nil {
			t.Fatal(err)
		}
		if err := d.f.Ring(p); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := unix.Read(d.feed, sink); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 && !raceEnabled {
		t.Errorf("%v allocations per write", n)
	}
}

// TestRing: all bytes arrive once, and the kernel's refusal comes back as it is.
func TestRing(t *testing.T) {
	d := newDevice(t)
	if err := d.f.Ring([]byte("doorbell")); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 32)
	n, err := unix.Read(d.feed, got)
	if err != nil || string(got[:n]) != "doorbell" {
		t.Errorf("got %q, %v", got[:n], err)
	}
	if err := unix.Shutdown(d.feed, unix.SHUT_RDWR); err != nil {
		t.Fatal(err)
	}
	if err := d.f.Ring([]byte{1}); err != syscall.EPIPE { //nolint:errorlint // it is bare
		t.Errorf("to nobody: %v, want EPIPE", err)
	}
}

// The ways of a doorbell through this package, and the system call.
func BenchmarkRing(b *testing.B)     { benchDoorbell(b, (*File).Ring) }
func BenchmarkTryWrite(b *testing.B) { benchDoorbell(b, (*File).TryWrite) }

func benchDoorbell(b *testing.B, ring func(*File, []byte) error) {
	f, err := Open(nil, "/dev/null")
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	p := make([]byte, 24)
	b.ReportAllocs()
	for b.Loop() {
		if err := ring(f, p); err != nil {
			b.Fatal(err)
		}
	}
}

func TestNoGoroutineLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	d := newDevice(t)
	for range 20 {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Microsecond)
		_, _ = d.read(ctx)
		cancel()
	}
	_ = d.f.Close()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
