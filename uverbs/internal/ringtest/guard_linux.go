package ringtest

import (
	"syscall"
	"testing"
)

// Guarded is memory of n bytes that ends at an unmapped page, so that an access
// behind it faults. Its start is aligned as the length allows.
func Guarded(tb testing.TB, n int) []byte {
	tb.Helper()
	page := syscall.Getpagesize()
	pages := (n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, pages+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := syscall.Munmap(mem); err != nil {
			tb.Error(err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[page+pages:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			tb.Fatal(err)
		}
	}
	return mem[page+pages-n : page+pages]
}
