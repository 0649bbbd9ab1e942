package cm

import (
	"context"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// The options of rdma_set_option, by name.

// SetTOS sets the type of service of the ID's traffic, before its route is
// resolved (RDMA_OPTION_ID_TOS).
func (id *ID) SetTOS(tos uint8) error {
	return id.do(func(ch *ucma.Channel, h uint32) error { return ch.SetTOS(h, tos) })
}

// SetReuseAddr lets several IDs that say so bind one address
// (RDMA_OPTION_ID_REUSEADDR). To listen, an ID must be alone on it
// ([ErrAddrInUse]). It may be set until then, and cleared before Bind only.
func (id *ID) SetReuseAddr(on bool) error {
	return id.do(func(ch *ucma.Channel, h uint32) error { return ch.SetReuseAddr(h, on) })
}

// SetAFOnly keeps an IPv6 wildcard from taking IPv4 too, before Listen
// (RDMA_OPTION_ID_AFONLY). What holds without it is the sysctl
// net.ipv6.bindv6only.
func (id *ID) SetAFOnly(on bool) error {
	return id.do(func(ch *ucma.Channel, h uint32) error { return ch.SetAFOnly(h, on) })
}

// SetACKTimeout sets the queue pair's local ACK time-out, 4.096 µs · 2^exponent,
// before the route is resolved (RDMA_OPTION_ID_ACK_TIMEOUT; reliable
// connections only).
func (id *ID) SetACKTimeout(exponent uint8) error {
	return id.do(func(ch *ucma.Channel, h uint32) error { return ch.SetACKTimeout(h, exponent) })
}

// SetIBPath gives an ID whose address is resolved its path records instead of
// ResolveRoute (RDMA_OPTION_IB_PATH), for instance those of another ID
// ([ID.Paths]). The kernel uses the first record whose flags say primary,
// bidirectional and GMP.
func (id *ID) SetIBPath(ctx context.Context, paths []abi.IBPathRecData) error {
	return id.step(ctx, stepResolveRoute,
		func(ch *ucma.Channel, h uint32) error { return ch.SetIBPath(h, paths) },
		abi.RDMA_CM_EVENT_ROUTE_RESOLVED, abi.RDMA_CM_EVENT_ROUTE_ERROR)
}
