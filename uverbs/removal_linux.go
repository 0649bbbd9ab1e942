package uverbs

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// ueventListener reads the kernel's uevents.
type ueventListener struct {
	file *os.File
	done chan struct{}
}

// kernelUEvents is the multicast group of the kernel; udev has another one.
const kernelUEvents = 1

// listenUEvents calls event for each event and missed when some were lost, both
// in one goroutine.
func listenUEvents(event func([]byte), missed func()) (*ueventListener, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_KOBJECT_UEVENT)
	if err != nil {
		return nil, err
	}
	l := &ueventListener{file: os.NewFile(uintptr(fd), "uevents"), done: make(chan struct{})}
	err = unix.Bind(fd, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: kernelUEvents})
	if err != nil {
		_ = l.file.Close() // nothing was received
		return nil, err
	}
	raw, err := l.file.SyscallConn()
	if err != nil {
		_ = l.file.Close()
		return nil, err
	}
	go l.run(raw, event, missed)
	return l, nil
}

func (l *ueventListener) run(raw syscall.RawConn, event func([]byte), missed func()) {
	defer close(l.done)
	buf := make([]byte, 16<<10) // the kernel's own limit is 2 KiB and some
	for {
		n, from, err := receive(raw, buf)
		switch {
		case err == nil && fromKernel(from):
			event(buf[:n])
		case errors.Is(err, unix.ENOBUFS):
			missed()
		case err != nil:
			return // closed
		}
	}
}

// receive waits for one datagram.
func receive(raw syscall.RawConn, buf []byte) (n int, from unix.Sockaddr, err error) {
	waitErr := raw.Read(func(fd uintptr) bool {
		for {
			n, from, err = unix.Recvfrom(int(fd), buf, 0)
			if err != unix.EINTR {
				return err != unix.EAGAIN
			}
		}
	})
	if waitErr != nil {
		return 0, nil, waitErr
	}
	return n, from, err
}

// fromKernel: other processes may send to the socket too.
func fromKernel(from unix.Sockaddr) bool {
	nl, ok := from.(*unix.SockaddrNetlink)
	return ok && nl.Pid == 0
}

func (l *ueventListener) close() {
	_ = l.file.Close() // its goroutine ends by it
	<-l.done
}

// lastUEvent returns the number of the last event; 0 if it is not known.
func lastUEvent() uint64 {
	text, _ := os.ReadFile("/sys/kernel/uevent_seqnum")
	n, _ := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n
}

// verbsNodeExists reports whether sysfs still has the device; without sysfs it
// is believed to.
func verbsNodeExists(name string) bool {
	const class = "/sys/class/infiniband_verbs"
	if _, err := os.Stat(class); err != nil {
		return true
	}
	_, err := os.Stat(class + "/" + name)
	return err == nil
}
