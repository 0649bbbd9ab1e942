package devfile

import (
	"errors"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// sleepers starts n waits for something to read, which does not come, and returns
// when one of them has looked. What ends them goes to done.
func (d *device) sleepers(t *testing.T, n int, done chan<- error) {
	tried := make(chan struct{}, 1)
	for range n {
		go func() {
			done <- d.f.WaitRead(t.Context(), func() error {
				select {
				case tried <- struct{}{}:
				default:
				}
				return syscall.EAGAIN
			})
		}()
	}
	<-tried
}

func TestCloseWakesWaiters(t *testing.T) {
	d := newDevice(t)
	const n = 8
	done := make(chan error, n)
	d.sleepers(t, n, done)
	if err := d.f.Close(); err != nil {
		t.Error(err)
	}
	for range n {
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v, want net.ErrClosed", err)
		}
	}
}

func TestCallsAfterCloseDuringUse(t *testing.T) {
	for range 50 {
		d := newDevice(t)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				for {
					err := d.f.Write([]byte{1})
					if err != nil && !errors.Is(err, syscall.EAGAIN) {
						if !errors.Is(err, net.ErrClosed) {
							t.Errorf("write beside close: %v", err)
						}
						return
					}
				}
			})
		}
		_ = d.f.Close()
		wg.Wait()
	}
}

// TestCloseWaitsForCalls: a number stays the file's until the calls that have it
// end, and nobody gets it after Close has begun.
func TestCloseWaitsForCalls(t *testing.T) {
	d := newDevice(t)
	const calls = 3
	var began, ended sync.WaitGroup
	began.Add(calls)
	release := make(chan struct{})
	for range calls {
		ended.Go(func() {
			err := d.f.WithFD(func(fd int) {
				began.Done()
				<-release
				if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
					t.Errorf("descriptor in use: %v", err)
				}
			})
			if err != nil {
				t.Errorf("use begun before close: %v", err)
			}
		})
	}
	began.Wait()
	done := make(chan error, 1)
	go func() { done <- d.f.Close() }()
	for !d.f.Closed() || d.f.WithFD(func(int) {}) == nil {
		runtime.Gosched()
	}
	for range 100 { // attempts that come too late must not count
		if err := d.f.TryWrite([]byte{1}); err != ErrClosed { //nolint:errorlint // bare
			t.Fatalf("write beside close: %v", err)
		}
	}
	select {
	case err := <-done:
		t.Errorf("closed under calls: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	ended.Wait()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestCloseWakesBesideCall: waiters need not wait for a call that takes long.
func TestCloseWakesBesideCall(t *testing.T) {
	d := newDevice(t)
	woken, began, release := make(chan error, 1), make(chan struct{}), make(chan struct{})
	d.sleepers(t, 1, woken)
	go func() {
		_ = d.f.WithFD(func(int) {
			close(began)
			<-release
		})
	}()
	<-began
	closed := make(chan error, 1)
	go func() { closed <- d.f.Close() }()
	if err := <-woken; !errors.Is(err, net.ErrClosed) {
		t.Errorf("waiter: %v", err)
	}
	close(release)
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

// TestCloseBesideWaits: callbacks of waiters make calls while the file is
// closed, and nobody waits for the other.
func TestCloseBesideWaits(t *testing.T) {
	for range 200 {
		d := newDevice(t)
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				for {
					if _, err := d.read(t.Context()); err != nil {
						if !errors.Is(err, net.ErrClosed) {
							t.Errorf("wait beside close: %v", err)
						}
						return
					}
				}
			})
			wg.Go(func() {
				for d.f.TryWrite([]byte{1}) == nil || !d.f.Closed() {
					_, _ = unix.Write(d.feed, []byte{2})
				}
			})
		}
		runtime.Gosched()
		if err := d.f.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}

// TestCloseTwiceOnHandle: a second Close neither waits nor closes the number that
// calls still have.
func TestCloseTwiceOnHandle(t *testing.T) {
	h, err := realKernel.Open("/dev/null")
	if err != nil {
		t.Fatal(err)
	}
	err = h.WithFD(func(fd int) {
		first := make(chan error, 1)
		go func() { first <- h.Close() }()
		for h.WithFD(func(int) {}) == nil {
			runtime.Gosched()
		}
		if err := h.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second close: %v", err)
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			t.Errorf("descriptor in use: %v", err)
		}
		t.Cleanup(func() {
			if err := <-first; err != nil {
				t.Error(err)
			}
		})
	})
	if err != nil {
		t.Error(err)
	}
}
