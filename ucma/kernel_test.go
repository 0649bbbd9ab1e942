package ucma

import (
	"encoding/binary"
	"os"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/purerdma/rdma/internal/devfile"
)

var host = binary.NativeEndian

// recorder is a device that keeps what is written to it and answers with
// prepared bytes.
type recorder struct {
	frames [][]byte
	respAt int    // offset of the answer's address in the payload; -1 for none
	answer []byte // written there, as far as the header's out allows
	err    error  // result of each write
}

func (r *recorder) Open(string) (devfile.Handle, error)       { return r, nil }
func (r *recorder) Adopt(int, string) (devfile.Handle, error) { return nil, syscall.EBADF }
func (r *recorder) AdoptSleeper(int, string) (devfile.Sleeper, error) {
	return nil, syscall.EBADF
}

func (r *recorder) Ring(p []byte) (int, error) { return r.Write(p) }

func (r *recorder) Write(p []byte) (int, error) {
	r.frames = append(r.frames, append([]byte(nil), p...))
	if r.err != nil {
		return 0, r.err
	}
	if r.respAt >= 0 {
		addr := uintptr(host.Uint64(p[8+r.respAt:]))
		out := int(host.Uint16(p[6:]))
		copy(unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), out), r.answer)
	}
	return len(p), nil
}

func (r *recorder) Read([]byte) (int, error)             { return 0, syscall.EINVAL }
func (r *recorder) Ioctl(uint, unsafe.Pointer) error     { return syscall.ENOTTY }
func (r *recorder) Mmap(int64, int, int) ([]byte, error) { return nil, syscall.ENODEV }
func (r *recorder) Munmap(...[]byte) error               { return syscall.EINVAL }
func (r *recorder) WithFD(fn func(int)) error            { fn(77); return nil }
func (r *recorder) SetReadDeadline(time.Time) error      { return nil }
func (r *recorder) Close() error                         { return nil }

// WaitRead gives up where a real device would sleep.
func (r *recorder) WaitRead(try func() error) error {
	err := try()
	if err == syscall.EAGAIN {
		return os.ErrDeadlineExceeded
	}
	return err
}

func openOn(tb testing.TB, k devfile.Kernel) *Channel {
	tb.Helper()
	c, err := Open(&Options{Kernel: k})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = c.Close() })
	return c
}

// A field is a value at an offset of a C struct.
type field struct {
	off int
	val any
}

// lay builds a struct of size bytes; what no field covers is zero.
func lay(size int, fields ...field) []byte {
	b := make([]byte, size)
	for _, f := range fields {
		switch v := f.val.(type) {
		case uint8:
			b[f.off] = v
		case uint16:
			host.PutUint16(b[f.off:], v)
		case uint32:
			host.PutUint32(b[f.off:], v)
		case uint64:
			host.PutUint64(b[f.off:], v)
		case []byte:
			copy(b[f.off:], v)
		default:
			panic("field of an unknown type")
		}
	}
	return b
}

// in4 is struct sockaddr_in, in6 struct sockaddr_in6, written by hand.
func in4(port uint16, ip ...byte) []byte {
	return lay(16, field{0, uint16(2)}, field{2, []byte{byte(port >> 8), byte(port)}}, field{4, ip})
}

func in6(port uint16, scope uint32, ip [16]byte) []byte {
	return lay(28, field{0, uint16(10)}, field{2, []byte{byte(port >> 8), byte(port)}}, field{8, ip[:]}, field{24, scope})
}

func fill(n int, b byte) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = b
	}
	return p
}
