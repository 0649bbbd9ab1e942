//go:build linux

package integration

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// probeResult is what a run of the command-line program brought.
type probeResult struct {
	code           int
	stdout, stderr string
	took           time.Duration
}

// requireProbe wants the program and returns its path.
func requireProbe(tb testing.TB) string {
	tb.Helper()
	path, err := exec.LookPath("rdmaprobe")
	if err != nil {
		missing(tb, "rdmaprobe", "build it and run through scripts/vm --file rdmaprobe:/usr/bin/rdmaprobe")
	}
	return path
}

// probe runs the program to its end.
func probe(t *testing.T, args ...string) probeResult {
	t.Helper()
	return runTool(t, exec.CommandContext(testContext(t), requireProbe(t), patient(args)...))
}

// patient gives pings whose time is not what a test is about enough of it for a busy
// machine.
func patient(args []string) []string {
	if len(args) == 0 || args[0] != "ping" && args[0] != "cmping" || slices.Contains(args, "--timeout") {
		return args
	}
	return append(slices.Clone(args), "--timeout", "1m")
}

// runTool runs any program to its end.
func runTool(t *testing.T, cmd *exec.Cmd) probeResult {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if cmd.Cancel != nil { // a Go program whose time is over shows its stacks
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGQUIT) }
		cmd.WaitDelay = testTime
	}
	start := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return probeResult{cmd.ProcessState.ExitCode(), out.String(), errOut.String(), time.Since(start)}
}

// limit is how long a run may take that waits for so long, on a machine as busy as it
// is now: the program alone is measured at the same time.
func limit(t *testing.T, waits time.Duration) time.Duration {
	t.Helper()
	return time.Second + 2*waits + 20*probe(t, "--help").took
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// want fails the test when the exit code is another, showing all output.
func (r probeResult) want(t *testing.T, code int) {
	t.Helper()
	if r.code != code {
		t.Fatalf("exit code %d, want %d, after %v\n%s%s", r.code, code, r.took, r.stdout, r.stderr)
	}
}

// contains fails the test when the output lacks a text.
func (r probeResult) contains(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(r.stdout+r.stderr, text) {
			t.Errorf("output lacks %q:\n%s%s", text, r.stdout, r.stderr)
		}
	}
}

// probeDoc is what tests look at in JSON output.
type probeDoc struct {
	Sent, Verified int
	Clean          bool
	Devices        []struct {
		Name   string
		Usable bool
		Ports  []struct{ GIDs []struct{ Address string } }
	}
	Error struct {
		Class, Step, Cause, Remedy string
		ExitCode                   int     `json:"exit_code"`
		AfterMS                    float64 `json:"after_ms"`
	}
}

// decode reads the output as one JSON document.
func (r probeResult) decode(t *testing.T) (d probeDoc) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatalf("%v in\n%s%s", err, r.stdout, r.stderr)
	}
	if d.Error.ExitCode != r.code {
		t.Errorf("JSON says exit code %d, the program %d", d.Error.ExitCode, r.code)
	}
	return d
}

// process is a program in the background.
type process struct {
	cmd    *exec.Cmd
	mu     sync.Mutex
	output bytes.Buffer
	copied sync.WaitGroup
}

// start runs a program until the test stops it.
func start(t *testing.T, name string, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(name, args...)}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout, p.cmd.Stderr = w, w
	err = p.cmd.Start()
	_ = w.Close()
	if err != nil {
		_ = r.Close()
		t.Fatal(err)
	}
	p.copied.Go(func() {
		defer r.Close()
		_, _ = io.Copy(p, r)
	})
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.copied.Wait()
		if t.Failed() {
			t.Logf("%s %s:\n%s", name, strings.Join(args, " "), p.text())
		}
	})
	return p
}

func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(b)
}

func (p *process) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// await returns the first complete line that contains a text.
func (p *process) await(t *testing.T, text string) string {
	t.Helper()
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		s := bufio.NewScanner(strings.NewReader(p.text()))
		for s.Scan() {
			if strings.Contains(s.Text(), text) && strings.Contains(p.text(), s.Text()+"\n") {
				return s.Text()
			}
		}
	}
	t.Fatalf("no line with %q in\n%s", text, p.text())
	return ""
}

// signal sends a signal and returns the exit code.
func (p *process) signal(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(sig); err != nil {
		t.Fatal(err)
	}
	return p.exit(t)
}

// exit waits for the end and returns the exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	kill := time.AfterFunc(testTime, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.cmd.Wait()
	p.copied.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// probeServe starts rdmaprobe serve on an address, port 0 for any, and returns
// it with the address it chose.
func probeServe(t *testing.T, address string, args ...string) (*process, string) {
	t.Helper()
	p := start(t, requireProbe(t), append([]string{"serve", "-a", address}, args...)...)
	line := p.await(t, "listening on ")
	where, _, _ := strings.Cut(strings.TrimPrefix(line, "listening on "), ",")
	return p, where
}
