package devfile

import (
	"errors"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// newSleeper is newDevice for a reader that sleeps in the kernel.
func newSleeper(t *testing.T) (s Sleeper, feed int) {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET, 0)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = realKernel.AdoptSleeper(fds[0], "pair"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.Close()
		_ = unix.Close(fds[1])
	})
	return s, fds[1]
}

// sleeping sleeps in a goroutine.
func sleeping(s Sleeper) <-chan bool {
	end := make(chan bool, 1)
	go func() { end <- s.Sleep() }()
	time.Sleep(5 * time.Millisecond)
	return end
}

// TestSleep ends sleeps in each way.
func TestSleep(t *testing.T) {
	feed := func(s Sleeper, fd int) { _, _ = unix.Write(fd, []byte{1}) }
	nothing := func(Sleeper, int) {}
	for _, tc := range []struct {
		name       string
		begin, end func(s Sleeper, feed int)
		want       bool
	}{
		{"readable", nothing, feed, true},
		{"readable at once", feed, nothing, true},
		{"woken", nothing, func(s Sleeper, _ int) { s.Wake() }, false},
		{"end of file", nothing, func(_ Sleeper, fd int) { _ = unix.Shutdown(fd, unix.SHUT_RDWR) }, true},
		{"closed", nothing, func(s Sleeper, _ int) { go s.Close() }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, fd := newSleeper(t)
			tc.begin(s, fd)
			end := sleeping(s)
			tc.end(s, fd)
			select {
			case got := <-end:
				if got != tc.want {
					t.Errorf("got %v", got)
				}
			case <-time.After(time.Minute):
				t.Fatal("still asleep")
			}
		})
	}
}

// TestWakeInAdvance: a ring that nobody heard ends the next sleep, once.
func TestWakeInAdvance(t *testing.T) {
	s, _ := newSleeper(t)
	for range 3 {
		s.Wake()
	}
	if s.Sleep() {
		t.Error("readable")
	}
	select {
	case <-sleeping(s):
		t.Error("one ring ended two sleeps")
	case <-time.After(20 * time.Millisecond):
	}
}

// TestSleeperClosed: after Close nothing touches the numbers of the descriptors,
// which others may have by then.
func TestSleeperClosed(t *testing.T) {
	s, _ := newSleeper(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.Wake()
	if s.Sleep() {
		t.Error("readable")
	}
	if err := s.Close(); !errors.Is(err, net.ErrClosed) {
		t.Error(err)
	}
}

func TestAdoptSleeperBadDescriptor(t *testing.T) {
	if _, err := realKernel.AdoptSleeper(1<<20, "events"); !errors.Is(err, unix.EBADF) {
		t.Error(err)
	}
}
