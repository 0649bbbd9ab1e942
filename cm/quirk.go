package cm

import (
	"net"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/kernelver"
)

// rnrRetry bounds the repetitions of this side's sends where they would not
// end by themselves. A peer without a receive posted then breaks the
// connection at once, which is better than a stuck process.
//
// That is soft-RoCE before 6.0, which repeats a request that met no receive at
// once, without its timer (fixed by "RDMA/rxe: Fix rnr retry behavior"). With
// both ends on one device the repetitions run inside the sender's write(2): for
// ever, and not to be killed, if their number is 7.
func (c *Conn) rnrRetry(agreed uint8) uint8 {
	const forEver = 7
	// sameHost asks the kernel for all addresses, so it is the last question.
	if agreed != forEver || c.dev.ctx.Device().DriverID != abi.RDMA_DRIVER_RXE || !kernelver.Older(6, 0) || !sameHost(c.remote) {
		return agreed
	}
	return forEver - 1
}

// sameHost reports whether the peer's address is one of this host.
func sameHost(peer net.Addr) bool {
	a, ok := peer.(Addr)
	return ok && isLocal(a.Addr())
}
