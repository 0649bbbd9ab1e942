package uverbs

import (
	"errors"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExplainMemlock(t *testing.T) {
	const (
		remedy = "; raise the limit (ulimit -l unlimited; docker run --ulimit memlock=-1; " +
			"systemd: LimitMEMLOCK=infinity; Kubernetes: the limit of the container runtime's service) " +
			"or grant CAP_IPC_LOCK in the initial user namespace (docker run --cap-add IPC_LOCK; in a container it is effective for root only)"
		other = ", so the device, the rdma cgroup or the machine has no memory left"
	)
	for _, tc := range []struct {
		name string
		l    limits
		want string
	}{
		{"not known", limits{}, ""},
		{"unlimited", limits{known: true, memlock: unlimited}, "RLIMIT_MEMLOCK is unlimited" + other},
		{"limited", limits{known: true, memlock: 4096, pinned: 4096},
			"RLIMIT_MEMLOCK is 4096 bytes, 4096 are pinned, 1000 more were asked for (4096 in whole pages), and CAP_IPC_LOCK is not effective" + remedy},
		{"nothing allowed", limits{known: true, initial: true},
			"RLIMIT_MEMLOCK is 0 bytes, 0 are pinned, 1000 more were asked for (4096 in whole pages), and CAP_IPC_LOCK is not effective" + remedy},
		{"capability of a container", limits{known: true, ipcLock: true},
			"RLIMIT_MEMLOCK is 0 bytes, 0 are pinned, 1000 more were asked for (4096 in whole pages), and CAP_IPC_LOCK is effective in this user namespace only, " +
				"but the kernel asks for it in the initial one" + remedy},
		{"capability", limits{known: true, ipcLock: true, initial: true},
			"CAP_IPC_LOCK is effective, so RLIMIT_MEMLOCK does not count" + other},
		{"allowed", limits{known: true, memlock: 65536, pinned: 4096},
			"RLIMIT_MEMLOCK is 65536 bytes, 4096 are pinned, 1000 more were asked for (4096 in whole pages), which it allows" + other},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, explainMemlock(tc.l, 1000, 1)); diff != "" {
				t.Error(diff)
			}
			if want := strings.HasSuffix(tc.want, remedy); tc.l.forbid(1) != want {
				t.Errorf("forbidden: %v, want %v", !want, want)
			}
		})
	}
	refused := error(memlockError{syscall.ENOMEM})
	if !errors.Is(refused, ErrMemlock) || !errors.Is(refused, syscall.ENOMEM) || errors.Is(syscall.ENOMEM, ErrMemlock) {
		t.Errorf("%v matches what it should not, or not what it should", refused)
	}
	if hint, err := refusedMemory(syscall.EINVAL, 0, 1000); err != syscall.EINVAL || hint != "" {
		t.Errorf("another error: %v, %q", err, hint)
	}
	if runtime.GOOS == "linux" && !processLimits().known {
		t.Error("the limits of this process are not known")
	}
}

// TestMemlockPages: the kernel counts pages, of the limit rounded down and of the
// region with the rests at both ends.
func TestMemlockPages(t *testing.T) {
	page := os.Getpagesize()
	for _, tc := range []struct {
		name    string
		memlock int // bytes
		start   int
		length  int
		forbids bool
	}{
		{"as many as there are", 4 * page, 0, 4 * page, false},
		{"a byte more", 4 * page, 0, 4*page + 1, true},
		{"a limit of half a page more", 4*page + page/2, 0, 4*page + 1, true},
		{"over the end of a page", 4 * page, 100, 4 * page, true},
		{"within pages", 4 * page, page + 100, 4*page - 100, false},
	} {
		l := limits{known: true, memlock: uint64(tc.memlock)}
		if got := l.forbid(pagesOf(uint64(tc.start), tc.length)); got != tc.forbids {
			t.Errorf("%s: forbidden %v, want %v", tc.name, got, tc.forbids)
		}
	}
}
