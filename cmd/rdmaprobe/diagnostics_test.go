package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/uverbs"
)

// healthyWorld has one device, to which nothing is wrong.
func healthyWorld() *world {
	w := rxeWorld()
	w.diag.Devices, w.diag.Usability, w.diag.Findings = w.diag.Devices[:1], w.diag.Usability[:1], nil
	w.gids["rxe0"] = w.gids["rxe0"][:3]
	return w
}

// deniedWorld is healthy, but for the mode of a node.
func deniedWorld() *world {
	w := healthyWorld()
	w.diag.Usability[0] = uverbs.Usability{State: uverbs.DeniedMode, Reason: "/dev/infiniband/uverbs0 has mode 0600, owner uid 0, gid 0; this process has uid 65534",
		Remedy: "run as a user that may open it, or chmod 0666 /dev/infiniband/uverbs0", Err: os.ErrPermission}
	return w
}

var timeMS = regexp.MustCompile(`"time_ms": [0-9.]+`)

func TestDiagnosticsGolden(t *testing.T) {
	tests := []struct {
		name  string
		world *world
		args  string
		code  int
	}{
		{"doctor", rxeWorld(), "doctor", exitNoDevice},
		{"doctor-healthy", healthyWorld(), "doctor --need 4MiB", exitOK},
		{"doctor-need", healthyWorld(), "doctor --need 64MiB", exitPermission},
		{"doctor-denied", deniedWorld(), "doctor", exitPermission},
		{"doctor-device", rxeWorld(), "doctor --device rxe0", exitOK},
		{"doctor-no-device", rxeWorld(), "doctor --device mlx5_0", exitNoDevice},
		{"doctor-none", emptyWorld(), "doctor", exitNoDevice},
		{"doctor-json", rxeWorld(), "doctor --pod --json", exitNoDevice},
		{"doctor-pod", rxeWorld(), "doctor --pod --need 64MiB", exitNoDevice},
		{"doctor-pod-nothing", healthyWorld(), "doctor --pod", exitOK},
		{"doctor-pod-host", emptyWorld(), "doctor --pod", exitNoDevice},
		{"doctor-usage", healthyWorld(), "doctor --need much", exitUsage},
		{"gids", rxeWorld(), "gids", exitOK},
		{"gids-to", rxeWorld(), "gids --to 10.9.1.1", exitOK},
		{"gids-to-6", rxeWorld(), "gids --to 2001:db8::7", exitOK},
		{"gids-to-link-local", rxeWorld(), "gids --to fe80::7%eth0", exitOK},
		{"gids-to-own", rxeWorld(), "gids --to 10.0.0.1", exitOK},
		{"gids-to-elsewhere", rxeWorld(), "gids --to 10.2.0.7", exitNoDevice},
		{"gids-no-route", rxeWorld(), "gids --to 192.0.2.1", exitUnreachable},
		{"gids-zone", rxeWorld(), "gids --to fe80::7", exitUsage},
		{"gids-json", rxeWorld(), "gids --to 10.0.0.7 --json", exitOK},
		{"gids-none", emptyWorld(), "gids", exitNoDevice},
		{"path", rxeWorld(), "path 10.9.1.1 --tos 104", exitOK},
		{"path-own", rxeWorld(), "path 10.0.0.1", exitOK},
		{"path-mtu", rxeWorld(), "path 10.0.0.8", exitFailed},
		{"path-untested", rxeWorld(), "path 10.0.0.9", exitOK},
		{"path-silent", rxeWorld(), "path 10.0.0.66", exitUnreachable},
		{"path-elsewhere", rxeWorld(), "path 10.2.0.7", exitNoDevice},
		{"path-down", rxeWorld(), "path 10.3.0.7", exitUnreachable},
		{"path-no-route", rxeWorld(), "path 192.0.2.1", exitUnreachable},
		{"path-none", emptyWorld(), "path 10.0.0.7", exitNoDevice},
		{"path-zone", rxeWorld(), "path fe80::7", exitUsage},
		{"path-json", rxeWorld(), "path 10.0.0.66 --json", exitUnreachable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := tt.world.command(t, strings.Fields(tt.args)...)
			wantCode(t, r, tt.code)
			if !strings.Contains(tt.args, "--json") {
				wantNarrow(t, r)
			}
			if strings.Contains(r.both(), "\x1b") {
				t.Error("colours without a terminal")
			}
			text := timeMS.ReplaceAllString(r.both(), `"time_ms": 0`)
			if strings.HasPrefix(tt.args, "path ") { // the width of a column follows the times in it
				text = columnGap.ReplaceAllString(text, "$1  ")
			}
			golden(t, filepath.Join("testdata", tt.name+".txt"), text)
		})
	}
}

func TestDestination(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.7": "10.0.0.7", "10.0.0.7:4420": "10.0.0.7", "[2001:db8::7]:1": "2001:db8::7", "[2001:db8::7]": "2001:db8::7",
		"::ffff:10.0.0.7": "10.0.0.7", "fe80::7%eth0": "fe80::7%eth0", "fe80::7%2": "fe80::7%eth0", "2001:db8::7%eth0": "2001:db8::7",
		"fe80::7": "", "fe80::7%nope": "", "0.0.0.0": "", "ff02::1": "", "": "", ":80": "", "1:2:3": "", "a b": "",
	} {
		a := &app{sys: rxeWorld().system()}
		got, err := a.destination(t.Context(), in, fakeNetdevs())
		if (err == nil) != (want != "") || err == nil && got.String() != want {
			t.Errorf("%q: %v, %v; want %q", in, got, err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]uint64{"0": 0, "4096": 4096, "64K": 64 << 10, "64KiB": 64 << 10, "1 MiB": 1 << 20, "4GiB": 4 << 30, "1.5GB": 1500000000, "10B": 10} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "-1", "NaN", "1e3", "0x10", "99999999TiB", "Inf"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}

func TestColumns(t *testing.T) {
	var b strings.Builder
	columns(&b, [][]string{{"A", "B", "C"}, {"", "long", strings.Repeat("word ", 30)}})
	want := "A  B     C\n-  long  " + strings.TrimSpace(strings.Repeat("word ", 18)) + "\n         " + strings.TrimSpace(strings.Repeat("word ", 12)) + "\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestPainter: a file is no terminal.
func TestPainter(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := &app{raw: &cancelWriter{w: f}}
	if a.onTerminal() || a.painter()(colourRed, "x") != "x" {
		t.Error("a file is taken for a terminal")
	}
}
