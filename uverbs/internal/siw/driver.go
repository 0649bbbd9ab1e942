package siw

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// New returns the driver for kernel devices with driver id RDMA_DRIVER_SIW.
func New() provider.Driver { return driver{} }

type driver struct{}

var _ provider.Driver = driver{}

// Name is the kernel's name of the driver.
func (driver) Name() string { return "siw" }

// ABIVersions is the one version there is.
func (driver) ABIVersions() (lo, hi uint32) { return abi.SIW_ABI_VERSION, abi.SIW_ABI_VERSION }

// Payload: siw refuses a context without room for its answer
// (siw_alloc_ucontext), and a registration without the low byte of the key
// (siw_reg_user_mr). Zero will do for that: the rest of the key is random.
func (driver) Payload() provider.Payload {
	return provider.Payload{
		ContextOut: int(unsafe.Sizeof(abi.SIWUrespAllocCtx{})),
		RegMRIn:    int(unsafe.Sizeof(abi.SIWUreqRegMR{})),
		RegMROut:   int(unsafe.Sizeof(abi.SIWUrespRegMR{})),
	}
}

// NewContext needs nothing of the kernel.
func (driver) NewContext(env provider.Env) (provider.Context, error) {
	return &context{env: env}, nil
}

// context has no state of its own: of the answer to GET_CONTEXT, a device number,
// nothing is needed.
type context struct{ env provider.Env }

// SetupAH refuses: iWARP has no datagrams.
func (*context) SetupAH(provider.AHRequest) (*provider.AHSetup, error) {
	return nil, fmt.Errorf("siw: address handles: iWARP has no datagrams: %w", errors.ErrUnsupported)
}

// CheckMR refuses what siw_reg_user_mr forgets: the address for peers ("rnic_va: not
// used by siw"), and rights outside of IWARP_ACCESS_MASK. Flags that are hints pass.
func (*context) CheckMR(req provider.MRRequest) error {
	switch {
	case req.Addr != req.Start, req.Access&abi.IB_UVERBS_ACCESS_ZERO_BASED != 0:
		return errAddress
	case req.Access&abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC != 0:
		return errAtomicAccess
	case req.Access&abi.IB_UVERBS_ACCESS_MW_BIND != 0:
		return errWindows
	}
	return nil
}

// Close has nothing to free.
func (*context) Close() error { return nil }
