package rxe

import (
	"math"

	"github.com/purerdma/rdma/internal/kernelver"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// abiVersion is RXE_UVERBS_ABI_VERSION of rxe_verbs.h, unchanged from 5.10 to
// 7.3. Version 1 differs on 32-bit machines only and is older than 4.19.
const abiVersion = 2

// New returns the driver for kernel devices with driver id RDMA_DRIVER_RXE.
func New() provider.Driver { return driver{} }

type driver struct{}

var _ provider.Driver = driver{}

// Name is the kernel's name of the driver.
func (driver) Name() string { return "rxe" }

// ABIVersions is the one version there is.
func (driver) ABIVersions() (lo, hi uint32) { return abiVersion, abiVersion }

// Payload: rxe adds nothing to commands that concern no queue.
func (driver) Payload() provider.Payload { return provider.Payload{} }

// NewContext needs nothing of the kernel.
func (driver) NewContext(env provider.Env) (provider.Context, error) {
	return &context{env: env}, nil
}

// context has no state of its own: rxe answers GET_CONTEXT with nothing and
// shares no memory per context.
type context struct{ env provider.Env }

// shortWork is the most that a doorbell may make the kernel do which the Go runtime does
// not learn of, in bytes; a request counts as one of its packets more. Until "RDMA/rxe:
// Don't call direct between tasks" of 6.10 rxe_post_send sends in the call, and if the
// peer is on the same machine it even receives there, as long as there is something in
// the ring. Then it queues the work.
//
// The runtime must not learn of a small message's doorbell. Where the goroutine has no
// idle processor beside it, the monitor takes the processor of a call that it meets at
// two looks, of which it then makes one every 20 µs, for ever (runtime.retake): with
// calls of 80 µs one change of thread for each, and half as long again.
func shortWork() uint64 {
	if kernelver.Since(6, 10) {
		return math.MaxUint64
	}
	return 8 * packet
}

// packet is what a request counts beside its data.
const packet = 1024

// CheckMR passes all: what rxe_reg_user_mr does not do, it refuses itself.
func (*context) CheckMR(provider.MRRequest) error { return nil }

// Close has nothing to free.
func (*context) Close() error { return nil }
