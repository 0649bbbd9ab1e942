package fakecm

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// A file is one open rdma_cm device: what owns IDs and queues their events.
// Its fields are guarded by the kernel's mu.
type file struct {
	k       *Kernel
	fd      int
	queue   []queued
	closed  bool
	expired bool // the read deadline has passed
	timer   *time.Timer
}

// A queued event knows its ID, whose destruction removes it, and the ID that
// a connection request brings.
type queued struct {
	ev      abi.RDMAUCMEventResp
	id      *id
	request *id
}

func (f *file) push(q queued) {
	f.queue = append(f.queue, q)
	f.k.cond.Broadcast()
}

// Ring is Write.
func (f *file) Ring(p []byte) (int, error) { return f.Write(p) }

// Write runs one command.
func (f *file) Write(p []byte) (int, error) {
	call := Call{Op: "write", Size: len(p)}
	hdr, req, err := split(p)
	if err == nil {
		call.Cmd = hdr.Cmd
		call.ID = requestID(hdr.Cmd, req)
	}
	if hookErr := f.k.before(&call); hookErr != nil {
		if hookErr == ErrShort {
			return len(p) - 1, nil
		}
		return 0, hookErr
	}
	if err != nil {
		return 0, err
	}
	f.k.mu.Lock()
	if f.closed {
		err = os.ErrClosed
	} else {
		err = f.run(hdr, req)
	}
	f.k.mu.Unlock()
	if err != nil {
		return 0, err
	}
	f.k.after(call)
	return len(p), nil
}

// Read has no meaning on the device.
func (f *file) Read([]byte) (int, error) { return 0, syscall.EINVAL }

// Ioctl has no meaning on the device.
func (f *file) Ioctl(uint, unsafe.Pointer) error { return syscall.ENOTTY }

// Mmap has no meaning on the device.
func (f *file) Mmap(int64, int, int) ([]byte, error) { return nil, syscall.ENODEV }

// Munmap has no meaning on the device.
func (f *file) Munmap(...[]byte) error { return syscall.EINVAL }

// WithFD passes a number that MIGRATE_ID understands.
func (f *file) WithFD(fn func(fd int)) error {
	f.k.mu.Lock()
	closed := f.closed
	f.k.mu.Unlock()
	if closed {
		return os.ErrClosed
	}
	fn(f.fd)
	return nil
}

// WaitRead waits for an event in the queue whenever try says EAGAIN.
func (f *file) WaitRead(try func() error) error {
	for {
		if err := f.waitable(); err != nil {
			return err
		}
		if err := try(); err != syscall.EAGAIN {
			return err
		}
		f.k.mu.Lock()
		for len(f.queue) == 0 && !f.closed && !f.expired {
			f.k.cond.Wait()
		}
		f.k.mu.Unlock()
	}
}

func (f *file) waitable() error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	switch {
	case f.closed:
		return os.ErrClosed
	case f.expired:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// SetReadDeadline implements devfile.Handle.
func (f *file) SetReadDeadline(t time.Time) error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	if f.closed {
		return os.ErrClosed
	}
	if f.timer != nil {
		f.timer.Stop()
		f.timer = nil
	}
	f.expired = !t.IsZero() && time.Until(t) <= 0
	if !t.IsZero() && !f.expired {
		f.timer = time.AfterFunc(time.Until(t), func() {
			f.k.mu.Lock()
			f.expired = true
			f.k.cond.Broadcast()
			f.k.mu.Unlock()
		})
	}
	f.k.cond.Broadcast()
	return nil
}

// Close destroys what is left on the file, as ucma_close does.
func (f *file) Close() error {
	call := Call{Op: "close"}
	err := f.k.before(&call) // close(2) frees the descriptor even when it fails
	f.k.mu.Lock()
	if f.closed {
		f.k.mu.Unlock()
		return os.ErrClosed
	}
	f.closed = true
	for _, i := range f.k.ids {
		if i.file == f {
			i.destroy()
		}
	}
	delete(f.k.files, f)
	f.k.cond.Broadcast()
	f.k.mu.Unlock()
	if err == nil {
		f.k.after(call)
	}
	return err
}
