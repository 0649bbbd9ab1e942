//go:build linux

package offheap

import (
	"testing"
	"unsafe"
)

func TestBlockIsZeroedAligned(t *testing.T) {
	b, err := Get()
	if err != nil {
		t.Fatal(err)
	}
	b.AllocBytes(3)
	p := Alloc[uint64](b)
	if uintptr(unsafe.Pointer(p))%8 != 0 {
		t.Fatalf("uint64 at %p is not aligned", p)
	}
	*p = ^uint64(0)
	b.Release()

	b, err = Get()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	for i, c := range b.AllocBytes(BlockSize) {
		if c != 0 {
			t.Fatalf("byte %d of a fresh block is %#x", i, c)
		}
	}
}

func TestBlockOverflowPanics(t *testing.T) {
	b, err := Get()
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	defer func() {
		if recover() == nil {
			t.Fatal("carving more than a block did not panic")
		}
	}()
	b.AllocBytes(BlockSize + 1)
}

func TestGetReleaseAllocatesNothing(t *testing.T) {
	b, err := Get()
	if err != nil {
		t.Fatal(err)
	}
	b.Release()
	n := testing.AllocsPerRun(100, func() {
		b, err := Get()
		if err != nil {
			t.Fatal(err)
		}
		Alloc[[8]uint64](b)
		b.Release()
	})
	if n != 0 {
		t.Fatalf("Get and Release allocate %v times", n)
	}
}

func TestMapUnmap(t *testing.T) {
	m, err := Map(1 << 16)
	if err != nil {
		t.Fatal(err)
	}
	m[1<<16-1] = 1
	if err := Unmap(m); err != nil {
		t.Fatal(err)
	}
	if _, err := Map(0); err == nil {
		t.Fatal("Map(0) succeeded")
	}
}

func TestMapPages(t *testing.T) {
	f, err := NewFile("test", 100, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	before := Mapped()
	for _, p := range []Pages{{}, {Transparent: true}, {File: f}} {
		m, err := MapPages(100, p)
		if err != nil {
			t.Fatal(err)
		}
		m[99]++
		if len(m) != 100 || Mapped() != before+100 {
			t.Errorf("%+v: %d bytes, %d counted", p, len(m), Mapped()-before)
		}
		if err := Unmap(m); err != nil {
			t.Error(err)
		}
	}
	if Mapped() != before {
		t.Errorf("%d bytes are still counted", Mapped()-before)
	}
	if n := (Pages{Huge: 2 << 20}).round(2<<20 + 1); n != 4<<20 {
		t.Errorf("%d bytes of huge pages", n)
	}
}
