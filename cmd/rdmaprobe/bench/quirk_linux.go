package bench

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// before6 reports whether the kernel is older than 6.0.
var before6 = sync.OnceValue(func() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	major, _, _ := strings.Cut(unix.ByteSliceToString(u.Release[:]), ".")
	n, err := strconv.Atoi(major)
	return err == nil && n < 6
})

// rnrRetries is how often a message that meets no receive is repeated: for
// ever (7), but for soft-RoCE before 6.0, which repeats without a pause inside
// of the sender's system call when both ends are on one host, so that nothing
// ends it (see package cm).
func rnrRetries(d *uverbs.Device) uint8 {
	if d.DriverID == abi.RDMA_DRIVER_RXE && before6() {
		return 6
	}
	return 7
}
