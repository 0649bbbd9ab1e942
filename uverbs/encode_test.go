//go:build linux

package uverbs

import (
	"encoding/binary"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// attrImage writes an attribute byte by byte, independently of the struct.
func attrImage(id, length uint16, data []byte) []byte {
	b := make([]byte, 16)
	binary.NativeEndian.PutUint16(b[0:], id)
	binary.NativeEndian.PutUint16(b[2:], length)
	binary.NativeEndian.PutUint16(b[4:], 1) // mandatory
	copy(b[8:], data)
	return b
}

func u64Image(v uint64) []byte { return binary.NativeEndian.AppendUint64(nil, v) }
func u32Image(v uint32) []byte { return binary.NativeEndian.AppendUint32(nil, v) }

func TestAttributeEncoding(t *testing.T) {
	b, err := offheap.Get()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	long := b.AllocBytes(20)
	short := b.AllocBytes(8)
	copy(short, "abcdefgh")
	for _, tc := range []struct {
		name  string
		m     *method
		build func(*ioctlCall)
		want  []byte
	}{
		{"object", &methodPDDestroy, func(c *ioctlCall) { c.object(0, 0xfedcba98) }, attrImage(0, 0, u64Image(0xfedcba98))},
		{"new object", &methodCQCreate, func(c *ioctlCall) { c.result(0) }, attrImage(0, 0, nil)},
		{"descriptor", &methodCQCreate, func(c *ioctlCall) { c.fd(3, -1) }, attrImage(3, 0, u64Image(^uint64(0)))},
		{"32 bits", &methodCQCreate, func(c *ioctlCall) { c.u32(1, 0x01020304) }, attrImage(1, 4, u32Image(0x01020304))},
		{"64 bits", &methodCQCreate, func(c *ioctlCall) { c.u64(2, 0x0102030405060708) }, attrImage(2, 8, u64Image(0x0102030405060708))},
		{"bytes inside", &methodInvokeWrite, func(c *ioctlCall) { c.in(0, short) }, attrImage(0, 8, []byte("abcdefgh"))},
		{"few bytes inside", &methodInvokeWrite, func(c *ioctlCall) { c.in(0, short[:3]) }, attrImage(0, 3, []byte("abc"))},
		{"bytes by address", &methodInvokeWrite, func(c *ioctlCall) { c.in(0, long) }, attrImage(0, 20, u64Image(offheap.AddrBytes(long)))},
		{"choice", &methodDMAHAlloc, func(c *ioctlCall) { c.choice(2, 1) }, append(attrImage(2, 0, nil)[:6], append([]byte{1, 0}, make([]byte, 8)...)...)},
		{"no bytes", &methodInvokeWrite, func(c *ioctlCall) { c.in(0, nil); c.out(1, nil) }, nil},
		{"output, however short", &methodInvokeWrite, func(c *ioctlCall) { c.out(1, short) }, attrImage(1, 8, u64Image(offheap.AddrBytes(short)))},
		{"driver bytes out", &methodQPCreate, func(c *ioctlCall) { c.out(4097, long) }, attrImage(4097, 20, u64Image(offheap.AddrBytes(long)))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := newIoctl(tc.m)
			if err != nil {
				t.Fatal(err)
			}
			defer c.release()
			tc.build(c)
			p := c.seal(abi.RDMA_DRIVER_RXE)
			got := unsafe.Slice((*byte)(p), 24+len(tc.want))
			want := make([]byte, 24)
			binary.NativeEndian.PutUint16(want[0:], uint16(24+len(tc.want)))
			binary.NativeEndian.PutUint16(want[2:], tc.m.object)
			binary.NativeEndian.PutUint16(want[4:], tc.m.id)
			binary.NativeEndian.PutUint16(want[6:], uint16(len(tc.want)/16))
			binary.NativeEndian.PutUint32(want[16:], 14)
			if diff := cmp.Diff(append(want, tc.want...), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchemaIsKept(t *testing.T) {
	for name, misuse := range map[string]func(*ioctlCall){
		"attribute of another method": func(c *ioctlCall) { c.u32(5, 1) },
		"wrong kind":                  func(c *ioctlCall) { c.u64(0, 1) },
		"driver bytes":                func(c *ioctlCall) { c.uhwIn([]byte{1}) },
		"too many":                    func(c *ioctlCall) { c.object(0, 1); c.object(0, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			c, err := newIoctl(&methodPDDestroy)
			if err != nil {
				t.Fatal(err)
			}
			defer c.release()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			misuse(c)
		})
	}
}

func TestSchemaIsSound(t *testing.T) {
	names := map[string]bool{}
	for _, m := range methods {
		if names[m.name] || m.name == "" {
			t.Errorf("method %q twice", m.name)
		}
		names[m.name] = true
		ids := map[uint16]bool{}
		for _, a := range m.attrs {
			if ids[a.id] || a.name == "" || a.kind != kindIn && a.kind != kindOut && a.size != 0 {
				t.Errorf("%s: attribute %+v", m.name, a)
			}
			ids[a.id] = true
		}
		// The kernel refuses more than a page (ib_uverbs_ioctl).
		if ioctlHdrSize+m.slots()*ioctlAttrSize > offheap.BlockSize/2 {
			t.Errorf("%s has %d attributes", m.name, m.slots())
		}
	}
}

func TestWriteEncoding(t *testing.T) {
	uhw := []byte{1, 2, 3, 4, 5, 6, 7, 8}
	for _, tc := range []struct {
		name        string
		cmd         *writeCmd
		in          []byte
		out         int
		frame, resp int
		words       [4]uint16 // in, out; provider in, out
	}{
		{"plain without answer", &cmdDeallocPD, nil, 0, 8 + 4, 0, [4]uint16{3, 0}},
		{"plain", &cmdAllocPD, nil, 0, 8 + 8, 4, [4]uint16{4, 1}},
		{"plain with driver bytes", &cmdCreateCQ, uhw, 16, 8 + 32 + 8, 8 + 16, [4]uint16{12, 6}},
		{"extended", &cmdExModifyQP, nil, 0, 24 + 120, 8, [4]uint16{15, 1}},
		{"extended with driver bytes", &cmdExModifyQP, uhw, 8, 24 + 120 + 8, 16, [4]uint16{15, 1, 1, 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := newWrite(tc.cmd, tc.in, tc.out)
			if err != nil {
				t.Fatal(err)
			}
			defer c.release()
			if len(c.frame) != tc.frame || len(c.resp) != tc.resp {
				t.Fatalf("frame of %d, answer of %d bytes; want %d, %d", len(c.frame), len(c.resp), tc.frame, tc.resp)
			}
			f, order := c.frame, binary.NativeEndian
			command := tc.cmd.num
			where := 8 // of the answer's address
			if tc.cmd.ex {
				command |= 1 << 31
				got := [2]uint16{order.Uint16(f[16:]), order.Uint16(f[18:])}
				if got != [2]uint16(tc.words[2:]) || order.Uint32(f[20:]) != 0 {
					t.Errorf("provider words %v", got)
				}
			}
			if got := [2]uint16{order.Uint16(f[4:]), order.Uint16(f[6:])}; got != [2]uint16(tc.words[:2]) || order.Uint32(f) != command {
				t.Errorf("command %#x, words %v", order.Uint32(f), got)
			}
			if tc.resp > 0 && order.Uint64(f[where:]) != offheap.AddrBytes(c.resp) {
				t.Errorf("answer at %#x", order.Uint64(f[where:]))
			}
			if tc.in != nil && string(f[len(f)-8:]) != string(tc.in) {
				t.Errorf("driver bytes % x", f[len(f)-8:])
			}
		})
	}
}

// FuzzAsyncEvent feeds event descriptors of a kernel that may be newer.
func FuzzAsyncEvent(f *testing.F) {
	f.Add(uint64(1), uint32(0))
	f.Add(^uint64(0), ^uint32(0))
	f.Add(uint64(3), uint32(abi.IB_EVENT_DEVICE_FATAL))
	f.Fuzz(func(t *testing.T, element uint64, kind uint32) {
		c := &Context{dev: &Device{Name: "x"}, gone: make(chan struct{})}
		e := c.asyncEvent(abi.IBUverbsAsyncEventDesc{Element: element, EventType: kind})
		if e.Element != element || uint32(e.Type) != kind || e.String() == "" {
			t.Errorf("%+v", e)
		}
	})
}
