//go:build linux

package integration

import (
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// transcripts are what the commands of docs/rdmaprobe.md printed. With
// RDMA_TRANSCRIPTS=print, TestTranscripts prints them anew (scripts/transcripts).
//
//go:embed testdata/transcripts.txt
var transcripts string

const transcriptMark = "==== "

// A transcript is one command of the page.
type transcript struct{ name, args string }

var transcriptList = []transcript{
	{"list", "list"},
	{"gids", "gids"},
	{"gids-to", "gids --to 10.77.0.2"},
	{"doctor", "doctor"},
	{"path", "path 10.77.0.1"},
	{"cmping-no-listener", "cmping 10.77.0.1 -p 4420 -c 3 -i 100ms"},
	{"cmping", "cmping 10.77.0.1 -c 2 -i 100ms"},
	{"cmping-unresolved", "cmping 10.77.0.99 -c 1 --timeout 1s"},
	{"cmping-silent", "cmping 10.77.0.98 -c 1 --timeout 1s"},
	{"cmping-no-device", "cmping 192.0.2.7 -c 1"},
	{"ping", "ping 10.77.0.1 -c 3 -i 100ms -v"},
	{"ping-data", "ping 10.77.0.1 --data -c 1"},
	{"res", "res -v"},
	{"watch", "watch --interval 200ms"},
	{"bench-lat", "bench lat 10.77.0.1 --size 64,4096 -c 200 --histogram"},
	{"bench-bw", "bench bw 10.77.0.1 --op write --size 4096,65536 -c 200 --mode event"},
	{"bench-conn", "bench conn 10.77.0.1 -c 20"},
	{"bench-reg", "bench reg -c 20 --size 4K,1M"},
	{"rxe-add", "rxe add v1"},
	{"rxe-list", "rxe list"},
	{"doctor-finding", "doctor --device rxe1"},
	{"rxe-del", "rxe del rxe1"},
	{"demo", "demo -c 10"},
	{"explain", "explain RP-MEM-001"},
	{"version", "version --abi"},
}

// TestTranscripts: the commands print what docs/rdmaprobe.md shows, in form.
func TestTranscripts(t *testing.T) {
	requireRDMA(t)
	requireProbe(t)
	if !kernelAtLeast(t, 7, 0) {
		t.Skip("the page was made on a newer kernel, which shows more")
	}
	checkLeaks(t)
	deafNeighbour(t, netdev, "10.77.0.98")
	plainInterface(t, "plain0", "plain1", "192.0.2.1/24")
	deafNeighbour(t, "plain0", "192.0.2.7")
	server := start(t, requireProbe(t), "serve", "-a", addrV4)
	server.await(t, "listening")
	benchServer := start(t, requireProbe(t), "bench", "serve", "-a", addrV4)
	benchServer.await(t, "listening")
	var all strings.Builder
	for _, tr := range transcriptList {
		fmt.Fprintf(&all, "%s%s\n%s", transcriptMark, tr.name, tr.run(t))
		if tr.name == "ping-data" { // what follows would make the server's part long
			time.Sleep(time.Second)
			fmt.Fprintf(&all, "%sserve\n$ rdmaprobe serve -a %s\n%s", transcriptMark, addrV4, server.text())
		}
	}
	server.signal(t, syscall.SIGTERM)
	benchServer.signal(t, syscall.SIGTERM)
	fmt.Fprintf(&all, "%sbench-serve\n$ rdmaprobe bench serve -a %s\n%s", transcriptMark, addrV4, benchServer.text())
	if os.Getenv("RDMA_TRANSCRIPTS") == "print" {
		fmt.Printf("TRANSCRIPTS BEGIN\n%sTRANSCRIPTS END\n", all.String())
		return
	}
	want, got := sections(transcripts), sections(all.String())
	for name, text := range got {
		if name == "doctor" { // its tables; tests before this one may have made counters count
			want[name], text = tables(want[name]), tables(text)
		}
		if diff := cmp.Diff(form(want[name]), form(text)); diff != "" {
			t.Errorf("%s has another form than in docs/rdmaprobe.md; run scripts/transcripts (-want +got):\n%s", name, diff)
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d transcripts, want %d", len(got), len(want))
	}
}

// run returns the command and everything it printed.
func (tr transcript) run(t *testing.T) string {
	t.Helper()
	if tr.name == "watch" {
		return tr.watch(t)
	}
	cmd := exec.CommandContext(testContext(t), requireProbe(t), strings.Fields(tr.args)...)
	out, err := cmd.CombinedOutput()
	text := "$ rdmaprobe " + tr.args + "\n" + string(out)
	if err != nil {
		text += fmt.Sprintf("(exit code %d)\n", cmd.ProcessState.ExitCode())
	}
	return text
}

// watch makes a device and removes it when watch has seen what was there before.
func (tr transcript) watch(t *testing.T) string {
	t.Helper()
	p := start(t, requireProbe(t), strings.Fields(tr.args)...)
	p.await(t, "GID 2")
	probe(t, "rxe", "add", "v1").want(t, 0)
	p.await(t, "rxe1/1      GID 0")
	probe(t, "rxe", "del", "rxe1").want(t, 0)
	p.await(t, "device removed")
	if code := p.signal(t, syscall.SIGINT); code != 0 {
		t.Errorf("watch: exit code %d", code)
	}
	return "$ rdmaprobe " + tr.args + "\n" + p.text()
}

// sections cuts transcripts apart, by name.
func sections(text string) map[string]string {
	out := map[string]string{}
	for part := range strings.SplitSeq("\n"+text, "\n"+transcriptMark) {
		if name, body, ok := strings.Cut(part, "\n"); ok && name != "" {
			out[name] = body
		}
	}
	return out
}

var (
	formNumber = regexp.MustCompile(`[0-9a-zA-Z:.#/%_-]*[0-9][0-9a-zA-Z:.#/%_-]*`)
	formFixed  = regexp.MustCompile(`RP-[A-Z]+-[0-9]+|exit code [0-9]+|reason [0-9]+`)
	formUnit   = regexp.MustCompile(`N (ms|s|µs|B|KiB|MiB|GiB)\b`)
	formBar    = regexp.MustCompile(`█+`)
	formSpace  = regexp.MustCompile(`[ \t]+`)
)

// tables are the first three paragraphs.
func tables(text string) string {
	parts := strings.Split(text, "\n\n")
	return strings.Join(parts[:min(3, len(parts))], "\n\n")
}

// volatile tells whether a line comes and goes with the speed of the machine
// or the way the program was built: bars of a histogram, counters, events,
// revisions.
func volatile(line string) bool {
	for _, start := range []string{"N … N", "note: packets were lost", "revision", "rdmaprobe (devel)", "rdmaprobe N"} {
		if strings.HasPrefix(line, start) {
			return true
		}
	}
	for _, part := range []string{"+N", "counter", "GID N", " event ", " -> "} {
		if strings.Contains(line, part) {
			return true
		}
	}
	return false
}

// spelled writes the digits of a code as letters, so that form keeps them.
func spelled(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return 'a' + r - '0'
		}
		return r
	}, s)
}

// form is what does not change from run to run: the words of each line,
// without numbers, times, spacing and order. Exit codes, ids of findings and reasons of
// rejects stay.
func form(text string) []string {
	var out []string
	for line := range strings.Lines(text) {
		line = formFixed.ReplaceAllStringFunc(strings.TrimSpace(line), spelled)
		line = formNumber.ReplaceAllString(line, "N")
		line = formUnit.ReplaceAllString(line, "T")
		line = formSpace.ReplaceAllString(formBar.ReplaceAllString(line, ""), " ")
		line = strings.TrimSpace(strings.ReplaceAll(line, "rtt min/avg/max/mdev = N", "rtt"))
		if line != "" && !volatile(line) {
			out = append(out, line)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func TestTranscriptForm(t *testing.T) {
	a := "$ rdmaprobe x\n64 bytes from 10.0.0.1: seq=0 time=1.2 ms\n64 bytes from 10.0.0.1: seq=1 time=0.2 ms\n   10 …  12 ███ 7\n"
	b := "$ rdmaprobe x\n64 bytes from  10.0.0.1: seq=0 time=10.2 ms\n\n   100 …  12 █ 9\n"
	if diff := cmp.Diff(form(a), form(b)); diff != "" {
		t.Error(diff)
	}
	for a, b := range map[string]string{"state ACTIVE": "state DOWN", "(exit code 5)": "(exit code 3)", "error RP-GID-001 rxe0": "error RP-GID-002 rxe0",
		"CM reason 8": "CM reason 28"} {
		if cmp.Equal(form(a), form(b)) {
			t.Errorf("%q counts as %q", a, b)
		}
	}
	got := sections("==== a\n1\n2\n==== b\n3\n")
	if diff := cmp.Diff(map[string]string{"a": "1\n2", "b": "3\n"}, got); diff != "" {
		t.Error(diff)
	}
}
