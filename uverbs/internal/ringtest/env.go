package ringtest

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Env is the core's side of the seam, with Go memory in place of mappings.
type Env struct {
	Offered map[int64][]byte // what can be mapped, by offset
	Mapped  map[*byte]bool
	FailAt  int  // number of the Map call that fails, from 1
	Once    bool // an offer is good for one mapping

	Doorbells   int // of which so many went each way
	Short, Long int
	DoorErr     error
	OnSend      func(handle uint32)
	Armed       []bool

	offers int64
	calls  int
}

var _ provider.Env = (*Env)(nil)

// NewEnv returns an Env with nothing to map.
func NewEnv() *Env { return &Env{Offered: map[int64][]byte{}, Mapped: map[*byte]bool{}} }

// Add offers memory for mapping and returns its offset.
func (e *Env) Add(mem []byte) uint64 {
	e.offers++
	off := e.offers << 20
	e.Offered[off] = mem
	return uint64(off)
}

// Map maps what was offered.
func (e *Env) Map(offset int64, length int) ([]byte, error) {
	e.calls++
	mem, ok := e.Offered[offset]
	if e.calls == e.FailAt || !ok || length > len(mem) {
		return nil, fmt.Errorf("fake: cannot map %d bytes at %#x", length, offset)
	}
	if e.Once {
		delete(e.Offered, offset)
	}
	e.Mapped[&mem[0]] = true
	return mem[:length], nil
}

// Unmap refuses what is not mapped.
func (e *Env) Unmap(mems ...[]byte) error {
	var errs []error
	for _, mem := range mems {
		switch {
		case mem == nil:
		case !e.Mapped[&mem[0]]:
			errs = append(errs, errors.New("fake: unmap of memory that is not mapped"))
		default:
			delete(e.Mapped, &mem[0])
		}
	}
	return errors.Join(errs...)
}

// QPBell is the bell of the queue pair with the given handle.
func (e *Env) QPBell(handle uint32) *provider.QPBell {
	return &provider.QPBell{
		Short: qpFile{e, handle, &e.Short}, Long: qpFile{e, handle, &e.Long}, Command: []byte("look"),
		Again: func(_ int, err error) error { return err },
	}
}

type qpFile struct {
	env    *Env
	handle uint32
	rung   *int
}

// Ring is the doorbell of a queue pair.
func (f qpFile) Ring(p []byte) (int, error) {
	f.env.Doorbells++
	*f.rung++
	if f.env.DoorErr != nil {
		return 0, f.env.DoorErr
	}
	if f.env.OnSend != nil {
		f.env.OnSend(f.handle)
	}
	return len(p), nil
}

// Bell is the bell of a completion queue.
type Bell struct{ Env *Env }

// Arm arms a completion queue.
func (b Bell) Arm(solicitedOnly bool) error {
	b.Env.Armed = append(b.Env.Armed, solicitedOnly)
	return nil
}
