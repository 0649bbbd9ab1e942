package cm

import (
	"context"
	"net/netip"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// allowBacklog sets what the sysctl says.
func allowBacklog(n int, known bool) { host.maxBacklog = func() (int, bool) { return n, known } }

// TestKernelBacklog: a listener tells what the kernel keeps for it, and is refused where
// nothing would arrive.
func TestKernelBacklog(t *testing.T) {
	_ = newRig(t) // takes the change of host back
	for _, tc := range []struct {
		limit int
		known bool
	}{{1024, true}, {4, true}, {0, false}} {
		allowBacklog(tc.limit, tc.known)
		l, err := ListenAddr(serverAddr, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s := l.Stats(); s.KernelBacklog != tc.limit || s.Backlog != defaultBacklog {
			t.Errorf("%+v", s)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	allowBacklog(0, true)
	_, err := ListenAddr(serverAddr, nil)
	wants(t, err, syscall.EINVAL)
	wantsText(t, err, "net.rdma_ucm.max_backlog is 0")
}

// TestBacklogHint: a dial that nobody answers names the listener's backlog among the
// reasons, with its limit where it is this host's and small.
func TestBacklogHint(t *testing.T) {
	for _, tc := range []struct {
		remote string
		limit  int
		known  bool
		want   string
	}{
		{"127.0.0.1:7174", 4, true, "net.rdma_ucm.max_backlog allows 4, usually 1024"},
		{"127.0.0.1:7174", 1024, true, "drops requests beyond its backlog without notice"},
		{"127.0.0.1:7174", 0, false, "drops requests beyond its backlog without notice"},
		{"192.0.2.1:7174", 4, true, "see the sysctl net.rdma_ucm.max_backlog there"},
	} {
		_ = newRig(t)
		allowBacklog(tc.limit, tc.known)
		remote := Addr{netip.MustParseAddrPort(tc.remote)}
		wantsText(t, newOpError("dial", remote, &stepFailure{step: stepConnect, err: context.DeadlineExceeded}), tc.want)
		other := newOpError("dial", remote, &stepFailure{step: stepResolveAddr, err: context.DeadlineExceeded})
		if got := describeTimeout(stepResolveAddr, remote); other.Hint != got {
			t.Errorf("hint %q of another step", other.Hint)
		}
	}
}

// TestUnansweredDialNamesBacklog: a request without an answer may be one that a full
// backlog dropped, and the dial says so. That kernels drop it is seen in guests.
func TestUnansweredDialNamesBacklog(t *testing.T) {
	r := newRig(t)
	r.cm.Mute(abi.RDMA_USER_CM_CMD_CONNECT) // a request that is dropped has no answer
	ctx, expire := expiring(t)
	r.cm.After = func(c fakecm.Call) {
		if c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
			expire()
		}
	}
	_, err := (&Dialer{Config: quick}).DialAddr(ctx, serverAddr)
	wants(t, err, context.DeadlineExceeded)
	wantsText(t, err, "net.rdma_ucm.max_backlog")
}
