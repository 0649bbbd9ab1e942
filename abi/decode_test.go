package abi

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestDecode(t *testing.T) {
	full := RDMAUCMInitQPAttr{Response: 0x1122334455667788, ID: 7, QPState: 3}
	raw := bytes.Clone(Bytes(&full))
	tests := map[string]struct {
		in   []byte
		want RDMAUCMInitQPAttr
		ok   bool
	}{
		"whole":          {raw, full, true},
		"longer":         {append(bytes.Clone(raw), 1, 2, 3), full, true},
		"without a tail": {raw[:12], RDMAUCMInitQPAttr{Response: full.Response, ID: 7}, false},
		"empty":          {nil, RDMAUCMInitQPAttr{}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, ok := Decode[RDMAUCMInitQPAttr](tc.in)
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreUnexported(RDMAUCMInitQPAttr{})); diff != "" || ok != tc.ok {
				t.Errorf("ok = %v, want %v (-want +got)\n%s", ok, tc.ok, diff)
			}
		})
	}
}

// A decoded struct holds the input's bytes, then zeros, at any length and
// alignment of the input.
func FuzzDecode(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add(make([]byte, unsafe.Sizeof(RDMAUCMEventResp{})), uint8(1))
	f.Add(bytes.Repeat([]byte{0xff}, 500), uint8(3))
	f.Fuzz(func(t *testing.T, b []byte, shift uint8) {
		b = b[min(int(shift), len(b)):]
		got, ok := Decode[RDMAUCMEventResp](b)
		raw := Bytes(&got)
		n := min(len(b), len(raw))
		if !bytes.Equal(raw[:n], b[:n]) || !bytes.Equal(raw[n:], make([]byte, len(raw)-n)) || ok != (len(b) >= len(raw)) {
			t.Fatalf("Decode(%x) = %x, %v", b, raw, ok)
		}
	})
}

// Views of a union are windows on the same bytes.
func TestUnionViews(t *testing.T) {
	var ev RDMAUCMEventResp
	ev.ParamConn().QPNum = 0x123456
	ev.ParamConn().PrivateData[0] = 0xab
	ev.ParamConn().PrivateDataLen = 1
	if got := ev.ParamUD().QPNum; got != 0x123456 {
		t.Errorf("QP number through the other view: %#x", got)
	}
	if got := ev.ParamArg32()[0]; got != 0x123456 {
		t.Errorf("first word: %#x", got)
	}
	var ss SockaddrStorage
	*ss.In6() = SockaddrIn6{Family: 10, Port: 0x1234, Addr: [16]byte{15: 1}, ScopeID: 3}
	if ss.Family != 10 || ss.Bytes()[23] != 1 || ss.In().Port != 0x1234 || ss.IB().Family != 10 {
		t.Errorf("storage: %x", ss.Bytes()[:28])
	}
}

func TestMTU(t *testing.T) {
	for n, want := range map[int]IBMTU{256: IB_MTU_256, 1023: IB_MTU_512, 1024: IB_MTU_1024, 1442: IB_MTU_1024, 4096: IB_MTU_4096, 9000: IB_MTU_4096} {
		got, ok := IBMTUFromBytes(n)
		if !ok || got != want || got.Bytes() > n {
			t.Errorf("IBMTUFromBytes(%d) = %v, %v, want %v", n, got, ok, want)
		}
	}
	if m, ok := IBMTUFromBytes(255); ok {
		t.Errorf("IBMTUFromBytes(255) = %v", m)
	}
	if n := IBMTU(6).Bytes(); n != 0 {
		t.Errorf("value 6 has %d bytes", n)
	}
}
