package bench

import (
	"context"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// An endpoint is a cm.ID as far as a side uses it once it has an address. Tests have
// others, and devices that are fakes.
type endpoint interface {
	Device() (*uverbs.Device, error)
	Port() (uint8, error)
	LocalAddr() (ucma.Sockaddr, error)
	RemoteAddr() (ucma.Sockaddr, error)
	CreateQP(pd *uverbs.PD, cfg uverbs.QPConfig) (*uverbs.QP, error)
	ModifyQP(qp *uverbs.QP, state abi.IBQPState) error
	Accept(p *ucma.ConnParam, ece ucma.ECE) error
	Reject(privateData []byte) error
	WaitEstablished(ctx context.Context) error
	NextEvent(ctx context.Context) (ucma.Event, error)
	Disconnect() error
	Close() error
}

var _ endpoint = (*cm.ID)(nil)

// openDevice opens a device; tests replace it.
var openDevice = func(d *uverbs.Device) (*uverbs.Context, error) { return d.Open(nil) }
