// Package offheap hands out memory that lives outside the Go heap.
//
// The RDMA character devices take structs that carry the address of a second
// buffer as a plain integer. The Go runtime cannot see such an address, so the
// memory behind it must neither move nor be collected while the kernel uses
// it. Memory from mmap(2) satisfies both without pinning and without an
// allocation per command.
//
// Two kinds exist: [Block], a pooled page for one command and its answer, and
// [Map], an anonymous mapping of any size for data that a device reads and
// writes.
package offheap
