package main

import (
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// What the program must keep to.
const (
	maxBinary  = 12_000_000
	maxStartUp = 20 * time.Millisecond
)

// TestBinary builds the program as scripts/release does: it is static, small,
// and starts at once.
func TestBinary(t *testing.T) {
	if testing.Short() || runtime.GOOS != "linux" {
		t.Skip("builds a Linux program")
	}
	path := filepath.Join(t.TempDir(), "rdmaprobe")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid= -X main.release=v9.9.9", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > maxBinary {
		t.Errorf("%d bytes, at most %d are wanted", info.Size(), maxBinary)
	}
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP {
			t.Error("the program is not static")
		}
	}
	// The best of many, and the processor's time: a busy machine makes a program
	// slower, and nothing faster.
	work, best := time.Hour, time.Hour
	for range 40 {
		cmd := exec.Command(path, "--help")
		start := time.Now()
		out, err := cmd.Output()
		best = min(best, time.Since(start))
		if err != nil || len(out) == 0 {
			t.Fatal(err)
		}
		work = min(work, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	t.Logf("starts and ends in %v, with %v of work", best, work)
	if work > maxStartUp || best > 10*maxStartUp {
		t.Errorf("start-up takes %v with %v of work, at most %v is wanted", best, work, maxStartUp)
	}
	if out, err := exec.Command(path, "version").Output(); err != nil || string(out[:20]) != "rdmaprobe    v9.9.9\n" {
		t.Errorf("version: %v\n%s", err, out)
	}
}
