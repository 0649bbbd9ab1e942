package cm

import (
	"bytes"
	"encoding"
	"errors"
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var (
	_ encoding.BinaryMarshaler   = RemoteMemory{}
	_ encoding.BinaryUnmarshaler = (*RemoteMemory)(nil)
	_ encoding.BinaryAppender    = RemoteMemory{}
)

// TestRemoteMemoryBytes: address, length, key and usage, little-endian, as
// librpma has them.
func TestRemoteMemoryBytes(t *testing.T) {
	m := RemoteMemory{Addr: 0x1122334455667788, Len: 0x0102030405060708, RKey: 0xa1b2c3d4, Access: RemoteRead | RemoteWrite | RemoteAtomic}
	want := []byte{
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 8, 7, 6, 5, 4, 3, 2, 1, 0xd4, 0xc3, 0xb2, 0xa1, 0x09,
	}
	b, err := m.MarshalBinary()
	if err != nil || !bytes.Equal(b, want) || len(b) != RemoteSize {
		t.Fatalf("got % x, %v", b, err)
	}
	b, err = m.AppendBinary([]byte("x"))
	if err != nil || !bytes.Equal(b, append([]byte("x"), want...)) {
		t.Errorf("appended % x, %v", b, err)
	}
	var back RemoteMemory
	if err := back.UnmarshalBinary(append(want, "padding"...)); err != nil {
		t.Fatal(err)
	}
	m.Access &^= RemoteAtomic // does not travel
	if diff := cmp.Diff(m, back); diff != "" {
		t.Error(diff)
	}
}

func TestRemoteMemoryHostile(t *testing.T) {
	keep := RemoteMemory{Addr: 1, Len: 2, RKey: 3}
	for name, b := range map[string][]byte{
		"empty":       nil,
		"short":       make([]byte, RemoteSize-1),
		"wraps":       append(bytes.Repeat([]byte{0xff}, 16), make([]byte, 5)...),
		"wraps by 1":  append(bytes.Repeat([]byte{0xff}, 8), 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
		"half a word": {1, 2, 3, 4},
		"zeros":       make([]byte, RemoteSize),
		"padding":     make([]byte, MaxAcceptData),
		"past it":     append(make([]byte, RemoteSize), 1),
	} {
		m := keep
		if err := m.UnmarshalBinary(b); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "remote memory") {
			t.Errorf("%s: %v", name, err)
		}
		if m != keep {
			t.Errorf("%s: changed to %+v", name, m)
		}
	}
	var m RemoteMemory
	one := make([]byte, RemoteSize)
	for i := range one {
		clear(one)
		one[i] = 1
		if err := m.UnmarshalBinary(one); err != nil {
			t.Errorf("byte %d is not zero: %v", i, err)
		}
	}
}

func TestRemoteMemorySlice(t *testing.T) {
	m := RemoteMemory{Addr: 1000, Len: 100, RKey: 7, Access: RemoteRead}
	for _, tc := range []struct {
		off, n uint64
		ok     bool
	}{
		{0, 100, true}, {100, 0, true}, {40, 60, true}, {0, 0, true},
		{0, 101, false}, {101, 0, false}, {99, 2, false}, {math.MaxUint64, 2, false}, {2, math.MaxUint64, false},
	} {
		got, err := m.Slice(tc.off, tc.n)
		if tc.ok && (err != nil || got != RemoteMemory{Addr: 1000 + tc.off, Len: tc.n, RKey: 7, Access: RemoteRead}) {
			t.Errorf("[%d:+%d]: %+v, %v", tc.off, tc.n, got, err)
		}
		if !tc.ok && !errors.Is(err, syscall.ERANGE) {
			t.Errorf("[%d:+%d]: %v", tc.off, tc.n, err)
		}
	}
}

func FuzzRemoteMemory(f *testing.F) {
	f.Add(make([]byte, RemoteSize))
	f.Add(bytes.Repeat([]byte{0xff}, RemoteSize))
	f.Add(bytes.Repeat([]byte{0x7f}, 30))
	f.Add(append(make([]byte, RemoteSize-1), '0')) // no right that this package knows
	f.Fuzz(func(t *testing.T, b []byte) {
		var m RemoteMemory
		if err := m.UnmarshalBinary(b); err != nil {
			if m != (RemoteMemory{}) {
				t.Errorf("error and value %+v", m)
			}
			return
		}
		if m.Addr+m.Len < m.Addr {
			t.Fatalf("wraps: %+v", m)
		}
		out, err := m.MarshalBinary()
		if err != nil || !bytes.Equal(out[:RemoteSize-1], b[:RemoteSize-1]) {
			t.Fatalf("came back as % x, %v", out, err)
		}
		var again RemoteMemory
		if err := again.UnmarshalBinary(out); err != nil || again != m {
			t.Errorf("second time %+v, %v", again, err)
		}
		if s, err := m.Slice(m.Len/2, m.Len-m.Len/2); err != nil || s.Addr+s.Len != m.Addr+m.Len {
			t.Errorf("half is %+v, %v", s, err)
		}
	})
}
