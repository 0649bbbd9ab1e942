//go:build linux

package integration

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestProbeMemlock: an ordinary user's registration of 1 MiB with 64 KiB of
// locked memory, with none, and with a capability that does not count (P4). Each
// refusal has the numbers and the remedies, the three are told apart, and the
// doctor predicts them.
func TestProbeMemlock(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	remedies := []string{"docker run --ulimit memlock=-1", "LimitMEMLOCK=infinity", "Kubernetes", "IPC_LOCK"}
	for _, tt := range []struct {
		name  string
		limit uint64
		user  func() *syscall.SysProcAttr
		texts []string
		ids   []string // of the doctor
	}{
		{"64 KiB", 64 << 10, nobody, []string{"RLIMIT_MEMLOCK is 65536 bytes", "are pinned", "1048576 more were asked for", "CAP_IPC_LOCK is not effective"},
			[]string{"RP-MEM-004"}},
		{"nothing", 0, nobody, []string{"RLIMIT_MEMLOCK is 0 bytes", "more were asked for", "CAP_IPC_LOCK is not effective"},
			[]string{"RP-MEM-001"}},
		{"capability in a user namespace", 64 << 10, nobodyInUserNamespace,
			[]string{"RLIMIT_MEMLOCK is 65536 bytes", "1048576 more", "effective in this user namespace only"}, []string{"RP-MEM-004", "RP-MEM-003"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withMemlock(t, tt.limit, func() {
				cmd := exec.CommandContext(testContext(t), requireProbe(t), "bench", "reg", "--size", "1M", "-n", "1")
				cmd.SysProcAttr = tt.user()
				r := runTool(t, cmd)
				r.want(t, 4)
				r.wantNarrow(t)
				flat := strings.Join(strings.Fields(r.stderr), " ")
				for _, text := range append(tt.texts, remedies...) {
					if !strings.Contains(flat, text) {
						t.Errorf("no %q in\n%s", text, r.stderr)
					}
				}
				rep := doctorAs(t, tt.user(), 4, "--need", "1MiB")
				for _, id := range tt.ids {
					rep.find(t, id, "")
				}
				if len(rep.bad()) != len(tt.ids) {
					t.Errorf("findings %v, want %v", rep.Findings, tt.ids)
				}
			})
		})
	}
}
