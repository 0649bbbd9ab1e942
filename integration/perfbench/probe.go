//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// probeDoc is the part of rdmaprobe's JSON that counts.
type probeDoc struct {
	Results []struct {
		Messages int     `json:"messages"`
		MiB      float64 `json:"mib_per_second"`
		Rate     float64 `json:"messages_per_second"`
		Latency  struct {
			P50  float64 `json:"p50_us"`
			Mean float64 `json:"mean_us"`
			P99  float64 `json:"p99_us"`
			P999 float64 `json:"p99_9_us"`
		} `json:"latency"`
		Reverse struct {
			MiB  float64 `json:"mib_per_second"`
			Rate float64 `json:"messages_per_second"`
		} `json:"reverse"`
	} `json:"results"`
}

func parseProbe(out string, t test) (sample, error) {
	var d probeDoc
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		return sample{}, err
	}
	if len(d.Results) != 1 || d.Results[0].Messages != t.count {
		return sample{}, fmt.Errorf("results %+v, want one of %d messages", d.Results, t.count)
	}
	r := d.Results[0]
	if t.kind == "lat" {
		l := r.Latency
		return sample{value: l.P50, tails: tails{l.Mean, l.P99, l.P999}, message: t.count}, nil
	}
	// Both ways, perftest adds up what each end has measured.
	s := sample{value: r.MiB + r.Reverse.MiB, rate: r.Rate + r.Reverse.Rate, message: t.count}
	if t.both {
		s.message *= 2
	}
	return s, nil
}

// A server is a program in the background.
type server struct {
	cmd  *exec.Cmd
	said *buffer
	end  func()
}

// buffer collects output that is read meanwhile.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds what a program says.
func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// String returns all of it so far.
func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// startServer waits until it has said a text, if there is one to wait for.
func startServer(args []string, ready []byte) (*server, error) {
	s := &server{cmd: exec.Command(args[0], args[1:]...), said: &buffer{}}
	s.cmd.Stdout, s.cmd.Stderr = s.said, s.said
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	s.end = sync.OnceFunc(func() { _ = s.cmd.Wait() }) // its status is in ProcessState
	for deadline := time.Now().Add(20 * time.Second); !strings.Contains(s.said.String(), string(ready)); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.stop()
			return nil, fmt.Errorf("%s does not start: %s", strings.Join(args, " "), s.said.String())
		}
	}
	return s, nil
}

// wait lets it end by itself, for a while.
func (s *server) wait() {
	kill := time.AfterFunc(20*time.Second, func() { _ = s.cmd.Process.Kill() })
	defer kill.Stop()
	s.end()
}

func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	s.wait()
}
