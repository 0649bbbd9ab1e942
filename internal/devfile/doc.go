// Package devfile is the one way this module reaches a device file: open,
// write, read, ioctl, mmap and the wait for readiness.
//
// Everything passes the small [Kernel] and [Handle] interfaces, so that a fake
// kernel written in Go can stand behind the packages ucma and uverbs in tests.
// [File] adds what both need on top: errors that name the call and the file,
// one closed error that matches [net.ErrClosed], and waits bounded by a
// context.
package devfile
