package cm

import (
	"context"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

// TestResolveAsksAgain: the kernel may have missed the neighbour's answer, and is
// asked again as long as the caller has time.
func TestResolveAsksAgain(t *testing.T) {
	for _, tc := range []struct {
		name     string
		failures int
		status   int32
		want     error
		asked    int
	}{
		{"noticed at once", 0, 0, nil, 1},
		{"noticed late", 3, -int32(syscall.ETIMEDOUT), nil, 4},
		{"never", 1000, -int32(syscall.ETIMEDOUT), syscall.ETIMEDOUT, 7}, // 250, 500, 4 times 1000, 250 ms
		{"another error", 1, -int32(syscall.EHOSTUNREACH), syscall.EHOSTUNREACH, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			asked := 0
			r.cm.After = func(c fakecm.Call) {
				if c.Op != "write" || c.Cmd != abi.RDMA_USER_CM_CMD_RESOLVE_ADDR {
					return
				}
				asked++
				if asked <= tc.failures {
					r.cm.InjectType(c.ID, abi.RDMA_CM_EVENT_ADDR_ERROR, tc.status)
				}
				if asked >= tc.failures {
					r.cm.Unmute()
				}
			}
			if tc.failures > 0 {
				r.cm.Mute(abi.RDMA_USER_CM_CMD_RESOLVE_ADDR)
			}
			id := r.newID()
			err := id.ResolveAddr(context.Background(), ucma.Sockaddr{}, sockaddr(t, serverAddr.String()))
			if tc.want == nil && err != nil {
				t.Fatal(err)
			}
			if tc.want != nil {
				wants(t, err, tc.want)
			}
			if asked != tc.asked {
				t.Errorf("the kernel was asked %d times, want %d", asked, tc.asked)
			}
		})
	}
}
