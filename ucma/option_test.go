package ucma

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
)

// optionReader sees the option's value while the command runs.
type optionReader struct {
	recorder
	value []byte
}

func (r *optionReader) Open(string) (devfile.Handle, error) { return r, nil }

func (r *optionReader) Write(p []byte) (int, error) {
	addr, n := uintptr(host.Uint64(p[8:])), host.Uint32(p[28:])
	r.value = append([]byte(nil), unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), n)...)
	return r.recorder.Write(p)
}

func TestOptionValues(t *testing.T) {
	paths := []abi.IBPathRecData{{Flags: 0x2b}, {Flags: 1}}
	for _, tc := range []struct {
		name        string
		call        func(c *Channel) error
		level, opt  uint32
		value       []byte
		valueOffset int
	}{
		{"tos", func(c *Channel) error { return c.SetTOS(9, 0x68) }, 0, 0, []byte{0x68}, 0},
		{"reuse", func(c *Channel) error { return c.SetReuseAddr(9, true) }, 0, 1, lay(4, field{0, uint32(1)}), 0},
		{"no reuse", func(c *Channel) error { return c.SetReuseAddr(9, false) }, 0, 1, lay(4), 0},
		{"family only", func(c *Channel) error { return c.SetAFOnly(9, true) }, 0, 2, lay(4, field{0, uint32(1)}), 0},
		{"any family", func(c *Channel) error { return c.SetAFOnly(9, false) }, 0, 2, lay(4), 0},
		{"ack timeout", func(c *Channel) error { return c.SetACKTimeout(9, 14) }, 0, 3, []byte{14}, 0},
		{"paths", func(c *Channel) error { return c.SetIBPath(9, paths) }, 1, 1,
			lay(2*72, field{0, uint32(0x2b)}, field{72, uint32(1)}), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := &optionReader{recorder: recorder{respAt: -1}}
			if err := tc.call(openOn(t, r)); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(r.value, tc.value) {
				t.Errorf("value % x, want % x", r.value, tc.value)
			}
			f := r.frames[0][8:]
			if id, level, opt := host.Uint32(f[8:]), host.Uint32(f[12:]), host.Uint32(f[16:]); id != 9 || level != tc.level || opt != tc.opt {
				t.Errorf("id %d, level %d, option %d", id, level, opt)
			}
		})
	}
}
