package cm

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// What the kernel keeps of requests until this package has fetched them. A listener
// asks for as many as there may be, and the reader of its channel fetches at once; yet
// with a small limit many peers that connect at the same moment are dropped without
// notice (ucma_connect_event_handler), and try again after four seconds.

// maxBacklogFile is the limit. It exists in the initial network namespace only, and
// counts in all.
const maxBacklogFile = "/proc/sys/net/rdma_ucm/max_backlog"

// usualBacklog is the limit that kernels start with.
const usualBacklog = 1024

// readMaxBacklog returns the limit, or false if it is not known.
func readMaxBacklog() (n int, ok bool) {
	b, err := os.ReadFile(maxBacklogFile)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(b)))
	return n, err == nil
}

// checkMaxBacklog refuses to listen where no request could arrive.
func checkMaxBacklog() error {
	if n, ok := host.maxBacklog(); ok && n == 0 {
		return fmt.Errorf("the kernel would drop all requests: sysctl net.rdma_ucm.max_backlog is 0, and is usually %d: %w",
			usualBacklog, syscall.EINVAL)
	}
	return nil
}

// describeBacklog is a reason why a connect request is not answered.
func describeBacklog(remote net.Addr) string {
	a, ok := remote.(Addr)
	if !ok {
		return ""
	}
	const drops = "the kernel drops requests beyond its backlog without notice"
	if !isLocal(a.Addr()) {
		return "; or many connect at once and the listener is too slow: " + drops + ", see the sysctl net.rdma_ucm.max_backlog there"
	}
	text := "; or many connect at once and the listener, on this host, is too slow: " + drops
	if n, ok := host.maxBacklog(); ok && n < usualBacklog {
		return fmt.Sprintf("%s, and the sysctl net.rdma_ucm.max_backlog allows %d, usually %d; listen anew after a change", text, n, usualBacklog)
	}
	return text
}
