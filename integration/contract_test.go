//go:build linux

package integration

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/docs/schema"
)

// wantSchema checks one JSON document, which may be the one of failures that
// came before there was anything to tell.
func wantSchema(t *testing.T, name string, doc string) {
	t.Helper()
	if err := schema.Check(name, []byte(doc)); err != nil && schema.Check("error", []byte(doc)) != nil {
		t.Errorf("%s: %v\n%s", name, err, doc)
	}
}

// TestContract: what each command prints with --json, when it works and when it
// fails, is what its schema says, and nothing else (P11).
func TestContract(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	requireProbe(t)
	if !kernelAtLeast(t, 7, 0) {
		t.Skip("documents are the same on all kernels: one is enough")
	}
	checkLeaks(t)
	server := start(t, requireProbe(t), "serve", "--json", "-a", addrV4)
	server.await(t, `"event":"listening"`)
	bench := start(t, requireProbe(t), "bench", "serve", "--json", "-a", addrV4)
	bench.await(t, `"event":"listening"`)
	for _, tt := range []struct {
		schema, args string
		code         int
	}{
		{"list", "list", 0}, {"error", "list everything", 2},
		{"gids", "gids --to " + addrV4, 0}, {"gids", "gids --to 203.0.113.1", 5}, {"gids", "gids --to fe80::7", 2},
		{"doctor", "doctor --pod", 0}, {"doctor", "doctor --need 999TiB", 1}, {"doctor", "doctor --device nope", 3},
		{"path", "path " + addrV4, 0}, {"path", "path 203.0.113.1", 5},
		{"cmping", "cmping " + addrV4 + " -C 2 -i 0", 0}, {"cmping", "cmping " + addrSilent + " -C 1 --timeout 300ms", 5},
		{"ping", "ping " + addrV4 + " -C 2 --interval 0 -v", 0}, {"ping", "ping " + addrV4 + " --data -C 1", 0}, {"ping", "ping " + addrV4 + ":9", 6},
		{"res", "res -v", 0}, {"res", "res --device nope", 3},
		{"version", "version --abi", 0},
		{"rxe", "rxe add v1 --name rxe_c", 0}, {"rxe-list", "rxe list", 0}, {"rxe", "rxe del rxe_c", 0}, {"rxe", "rxe add nope", 3}, {"rxe", "rxe del nope", 3},
		{"demo", "demo --device rxe0 -C 2", 0}, {"demo", "demo --device nope", 3},
		{"bench", "bench lat " + addrV4 + " -n 10 --size 64", 0}, {"bench", "bench lat " + addrV4 + ":9 -n 10", 6},
		{"bench-conn", "bench conn " + addrV4 + " -n 3", 0}, {"bench-reg", "bench reg -n 2 --size 4K", 0},
		{"serve", "serve -a " + addrV4, 1}, {"error", "serve -a nonsense:port", 2},
	} {
		r := probe(t, append(strings.Fields(tt.args), "--json")...)
		wantSchema(t, tt.schema, r.stdout)
		var doc struct {
			Error struct {
				ExitCode int `json:"exit_code"`
			}
		}
		if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil || r.code != tt.code || doc.Error.ExitCode != r.code || r.stderr != "" {
			t.Errorf("%s: %v, exit code %d, want %d\n%s%s", tt.args, err, r.code, tt.code, r.stdout, r.stderr)
		}
	}
	watch := probe(t, "watch", "--json", "--duration", "300ms", "--interval", "100ms")
	watch.want(t, 0)
	for _, p := range []*process{server, bench} {
		if code := p.signal(t, syscall.SIGTERM); code != 0 {
			t.Errorf("exit code %d", code)
		}
	}
	for name, text := range map[string]string{"watch": watch.stdout, "serve": server.text(), "bench-serve": bench.text()} {
		for line := range strings.Lines(text) {
			wantSchema(t, name, line)
		}
	}
}

// TestContractCounters: a counter without a number, a device without counters,
// and empty places of a GID table disturb nothing else (P11).
func TestContractCounters(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	w := newWire(t)
	counters := func(device string) string {
		return filepath.Join("/sys/class/infiniband", device, "ports/1/hw_counters")
	}
	bad := filepath.Join(t.TempDir(), "counter")
	if err := os.WriteFile(bad, []byte("N/A (no PMA)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	withMounts(t, func() {
		for _, m := range []struct {
			source, target, fs string
			flags              uintptr
		}{
			{bad, filepath.Join(counters("rxe0"), "send_err"), "", unix.MS_BIND},
			{"none", counters(w.device), "tmpfs", 0},
		} {
			if err := unix.Mount(m.source, m.target, m.fs, m.flags, ""); err != nil {
				t.Errorf("mount on %s: %v", m.target, err)
				return
			}
		}
		rep := doctorAs(t, nil, 0)
		f := rep.find(t, "RP-CNT-003", "rxe0 port 1")
		if f.Severity != "note" || !strings.Contains(f.Problem, "1 counters cannot be read: send_err") {
			t.Errorf("finding %v", f)
		}
		if bad := rep.bad(); len(bad) > 0 {
			t.Errorf("findings %v", rep.Findings)
		}
		for _, command := range []string{"list", "gids", "res", "watch --counters all --duration 300ms --interval 100ms"} {
			cmd := exec.CommandContext(testContext(t), requireProbe(t), append(strings.Fields(command), "--json")...)
			r := runTool(t, cmd)
			r.want(t, 0)
			r.contains(t, "rxe0", w.device)
		}
		// Without nodes the GIDs come from sysfs, where the types of empty places
		// cannot be read (EINVAL).
		if err := unix.Mount("none", "/dev/infiniband", "tmpfs", 0, ""); err != nil {
			t.Error(err)
			return
		}
		r := probe(t, "list")
		r.want(t, 3)
		r.contains(t, "::ffff:"+addrV4, "::ffff:10.90.0.1", "RoCE v2")
	})
}
