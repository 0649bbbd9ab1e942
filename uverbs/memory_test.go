//go:build linux

package uverbs_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs"
)

func TestAllocMemory(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  uverbs.MemoryConfig
		file bool
	}{
		{"ordinary", uverbs.MemoryConfig{Size: 5000}, false},
		{"transparent huge pages", uverbs.MemoryConfig{Size: 8 << 20, TransparentHuge: true}, false},
		{"shared", uverbs.MemoryConfig{Size: 5000, Shared: true, Name: "test"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := offheap.Mapped()
			m, err := uverbs.AllocMemory(tc.cfg)
			if err != nil {
				t.Fatal(err)
			}
			b := m.Bytes()
			if len(b) != tc.cfg.Size || cap(b) != tc.cfg.Size || m.Len() != tc.cfg.Size || m.Addr() == 0 {
				t.Errorf("%d bytes, room for %d", len(b), cap(b))
			}
			b[0], b[len(b)-1] = 1, 2
			if (m.File() != nil) != tc.file {
				t.Errorf("file %v", m.File())
			}
			for range 2 {
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := offheap.Mapped(); n != before {
				t.Errorf("%d bytes left", n-before)
			}
			if tc.file {
				if _, err := m.File().Stat(); !errors.Is(err, os.ErrClosed) {
					t.Errorf("file after Close: %v", err)
				}
			}
		})
	}
}

// TestSharedMemory reads through the file what was written to the memory.
func TestSharedMemory(t *testing.T) {
	m, err := uverbs.AllocMemory(uverbs.MemoryConfig{Size: 100, Shared: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	copy(m.Bytes()[10:], "hello")
	got := make([]byte, 5)
	if _, err := m.File().ReadAt(got, 10); err != nil || string(got) != "hello" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestAllocMemoryRefused(t *testing.T) {
	for _, tc := range []struct {
		name string
		cfg  uverbs.MemoryConfig
		want error // or nil: any
		text string
	}{
		{"nothing", uverbs.MemoryConfig{}, syscall.EINVAL, "0 bytes"},
		{"less than nothing", uverbs.MemoryConfig{Size: -1}, syscall.EINVAL, "-1 bytes"},
		{"odd page size", uverbs.MemoryConfig{Size: 1, HugePageSize: 3 << 20}, syscall.EINVAL, "power of two"},
		{"page size of no machine", uverbs.MemoryConfig{Size: 1, HugePageSize: 1 << 13}, nil, "hugepages-8kB/nr_hugepages"},
		{"file of that", uverbs.MemoryConfig{Size: 1, HugePageSize: 1 << 13, Shared: true}, nil, "hugepages-8kB/nr_hugepages"},
		{"more than there is", uverbs.MemoryConfig{Size: 1 << 60}, syscall.ENOMEM, "map"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := uverbs.AllocMemory(tc.cfg)
			if err == nil {
				m.Close()
				t.Fatal("no error")
			}
			if tc.want != nil && !errors.Is(err, tc.want) || !strings.Contains(err.Error(), tc.text) {
				t.Error(err)
			}
		})
	}
}
