package devfile

import (
	"encoding/binary"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// sleeper is a handle whose reader sleeps in poll(2), on a thread of its own, with
// an eventfd as the bell that wakes it.
//
// The poller of the runtime is kept out altogether: the thread that sleeps in
// epoll_wait(2) for the whole process would wake up for each event of the file too.
type sleeper struct {
	*handle
	bell int
}

// AdoptSleeper makes fd non-blocking and close-on-exec, and owns it from then on.
func (linux) AdoptSleeper(fd int, name string) (Sleeper, error) {
	unix.CloseOnExec(fd)
	f := os.NewFile(uintptr(fd), name) // while it blocks, for then it is not polled
	if f == nil {
		return nil, syscall.EBADF
	}
	err := unix.SetNonblock(fd, true)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	bell, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	h, err := newHandle(f)
	if err != nil {
		_ = unix.Close(bell)
		return nil, err
	}
	return &sleeper{h.(*handle), bell}, nil
}

// Sleep has no limit in time: with one, the kernel would set a timer each time.
func (s *sleeper) Sleep() bool {
	if !s.enter() {
		return false
	}
	defer s.leave()
	fds := [2]unix.PollFd{{Fd: int32(s.fd), Events: unix.POLLIN}, {Fd: int32(s.bell), Events: unix.POLLIN}}
	for {
		_, err := unix.Poll(fds[:], -1)
		if err == nil {
			break
		}
		// A signal ends it, such as the runtime's to a goroutine that it preempts.
		if err != unix.EINTR {
			time.Sleep(time.Millisecond) // no memory, or fewer descriptors allowed than two
			return true                  // maybe: reading will tell
		}
	}
	if fds[1].Revents != 0 {
		var count [8]byte
		_, _ = unix.Read(s.bell, count[:])
	}
	return fds[0].Revents != 0
}

// Wake rings.
func (s *sleeper) Wake() {
	if s.enter() {
		s.ring()
		s.leave()
	}
}

func (s *sleeper) ring() {
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, _ = unix.Write(s.bell, one[:])
}

// Close wakes who sleeps and returns when calls that were under way have ended.
func (s *sleeper) Close() error {
	err := s.end(s.ring)
	if err != ErrClosed {
		_ = unix.Close(s.bell)
	}
	return err
}
