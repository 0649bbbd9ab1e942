package rxe

import "github.com/purerdma/rdma/uverbs/internal/provider"

// abiVersion is RXE_UVERBS_ABI_VERSION of rxe_verbs.h, unchanged from 5.10 to
// 7.3. Version 1 differs on 32-bit machines only and is older than 4.19.
const abiVersion = 2

// New returns the driver for kernel devices with driver id RDMA_DRIVER_RXE.
func New() provider.Driver { return driver{} }

type driver struct{}

var _ provider.Driver = driver{}

func (driver) Name() string { return "rxe" }

func (driver) ABIVersions() (lo, hi uint32) { return abiVersion, abiVersion }

func (driver) Payload() provider.Payload { return provider.Payload{} }

func (driver) NewContext(env provider.Env) (provider.Context, error) {
	return &context{env: env}, nil
}

// context has no state of its own: rxe answers GET_CONTEXT with nothing and
// shares no memory per context.
type context struct{ env provider.Env }

func (*context) Close() error { return nil }
