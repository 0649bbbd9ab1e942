package rping_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

func TestInfoWire(t *testing.T) {
	info := rping.Info{Addr: 0x0102030405060708, RKey: 0x090a0b0c, Size: 64}
	got, err := info.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 64}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wire form (-want +got):\n%s", diff)
	}
	var back rping.Info
	if err := back.UnmarshalBinary(got); err != nil || back != info {
		t.Errorf("UnmarshalBinary = %+v, %v; want %+v", back, err, info)
	}
}

func TestInfoRefused(t *testing.T) {
	wire := func(i rping.Info) []byte { b, _ := i.AppendBinary(nil); return b }
	for name, b := range map[string][]byte{
		"nothing":      nil,
		"short":        make([]byte, rping.InfoSize-1),
		"long":         make([]byte, rping.InfoSize+1),
		"empty memory": wire(rping.Info{Addr: 1}),
		"too long":     wire(rping.Info{Addr: 1, Size: rping.MaxSize + 1}),
		"wraps around": wire(rping.Info{Addr: ^uint64(0) - 10, Size: 64}),
	} {
		t.Run(name, func(t *testing.T) {
			info := rping.Info{Addr: 7}
			if err := info.UnmarshalBinary(b); !errors.Is(err, rping.ErrProtocol) {
				t.Errorf("error %v, want one that matches ErrProtocol", err)
			}
			if want := (rping.Info{Addr: 7}); info != want {
				t.Errorf("changed to %+v", info)
			}
		})
	}
}

// TestInfoBoundaries: what is just within the limits is taken.
func TestInfoBoundaries(t *testing.T) {
	for _, want := range []rping.Info{
		{Addr: 1, Size: 1}, {Addr: 0, Size: rping.MaxSize}, {Addr: ^uint64(0) - 64, Size: 64}, {Addr: ^uint64(0) - 1, Size: 1},
	} {
		var got rping.Info
		b, _ := want.AppendBinary(nil)
		if err := got.UnmarshalBinary(b); err != nil || got != want {
			t.Errorf("%+v: %+v, %v", want, got, err)
		}
	}
}

func FuzzInfo(f *testing.F) {
	f.Add(make([]byte, rping.InfoSize))
	f.Add(bytes.Repeat([]byte{0xff}, rping.InfoSize))
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 64})
	f.Fuzz(func(t *testing.T, b []byte) {
		var info rping.Info
		if err := info.UnmarshalBinary(b); err != nil {
			if info != (rping.Info{}) || !errors.Is(err, rping.ErrProtocol) {
				t.Fatalf("%v left %+v", err, info)
			}
			return
		}
		if info.Size == 0 || info.Size > rping.MaxSize || info.Addr+uint64(info.Size) < info.Addr {
			t.Fatalf("accepted %+v", info)
		}
		if back, _ := info.AppendBinary(nil); !bytes.Equal(back, b) {
			t.Fatalf("%x came back as %x", b, back)
		}
	})
}

func TestFill(t *testing.T) {
	for name, tc := range map[string]struct {
		n    uint64
		size int
		want string
	}{
		"first":        {0, 32, "rdma-ping-0: ABCDEFGHIJKLMNOPQR\x00"},
		"second":       {1, 32, "rdma-ping-1: BCDEFGHIJKLMNOPQRS\x00"},
		"letters wrap": {57, 32, "rdma-ping-57: zABCDEFGHIJKLMNOP\x00"},
		"start wraps":  {58, 32, "rdma-ping-58: ABCDEFGHIJKLMNOPQ\x00"},
		"smallest":     {2147483647, rping.MinSize, "rdma-ping-2147483647: HIJ\x00"},
		"int wraps":    {1 << 31, rping.MinSize, "rdma-ping--2147483648: IJ\x00"},
		"int from 0":   {1 << 32, rping.MinSize, "rdma-ping-0: QRSTUVWXYZ[\\\x00"},
		"head cut":     {5, 6, "rdma-\x00"},
		"empty":        {5, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := make([]byte, tc.size)
			rping.Fill(got, tc.n)
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
