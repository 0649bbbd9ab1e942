package uverbs

import (
	"slices"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// protReadWrite is PROT_READ|PROT_WRITE, which all systems number alike.
const protReadWrite = 3

// env is what a driver may do with the context it belongs to.
type env struct{ c *Context }

var _ provider.Env = env{}

// Map maps part of the device's file, which closing it leaves mapped.
func (e env) Map(offset int64, length int) ([]byte, error) {
	return e.c.file.Mmap(offset, length, protReadWrite)
}

// Unmap ends what Map made; nil is nothing.
func (e env) Unmap(mems ...[]byte) error {
	mems = slices.DeleteFunc(mems, func(mem []byte) bool { return mem == nil })
	return e.c.file.Munmap(mems...)
}
