package bench

import "golang.org/x/sys/unix"

// hugePages asks for huge pages; the kernel may have none.
func hugePages(b []byte) { _ = unix.Madvise(b, unix.MADV_HUGEPAGE) }
