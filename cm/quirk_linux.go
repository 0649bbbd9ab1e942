package cm

import (
	"net"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
)

// rxeSpins reports whether the kernel is older than 6.0. There soft-RoCE
// repeats a request that met no receive at once, without its timer (fixed by
// "RDMA/rxe: Fix rnr retry behavior"). With both ends on one device the
// repetitions run inside the sender's write(2): for ever, and not to be
// killed, if the number of repetitions is 7.
var rxeSpins = sync.OnceValue(func() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	major, _, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < 6
})

// rnrRetry bounds the repetitions of this side's sends where they would not
// end by themselves. A peer without a receive posted then breaks the
// connection at once, which is better than a stuck process.
func (c *Conn) rnrRetry(agreed uint8) uint8 {
	const forEver = 7
	// sameHost asks the kernel for all addresses, so it is the last question.
	if agreed != forEver || c.dev.ctx.Device().DriverID != abi.RDMA_DRIVER_RXE || !rxeSpins() || !sameHost(c.remote) {
		return agreed
	}
	return forEver - 1
}

// sameHost reports whether the peer's address is one of this host.
func sameHost(peer net.Addr) bool {
	a, ok := peer.(Addr)
	return ok && isLocal(a.Addr())
}
