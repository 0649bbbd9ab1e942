//go:build linux

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	statusCannotRun = 127 // as a shell has it
	statusTimeout   = 124 // as timeout(1) has it
	quitGrace       = 5 * time.Second
	outputGrace     = time.Second
)

// run executes the binary and returns its exit status; a binary killed by a
// signal counts 128 plus the signal, as in a shell.
func run(conf *config, p *ports) int {
	stdout, err := newRelay(p.stdout)
	if err != nil {
		p.fail(err)
	}
	stderr, err := newRelay(p.stderr)
	if err != nil {
		p.fail(err)
	}
	stdin, err := os.Open(os.DevNull)
	if err != nil {
		p.fail(err)
	}
	attr := &os.ProcAttr{
		Dir:   conf.cwd,
		Env:   conf.environ(),
		Files: []*os.File{stdin, stdout.w, stderr.w},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}
	path, err := exec.LookPath(conf.argv[0])
	if err != nil {
		fmt.Fprintf(p.stderr, "vm: %v\n", err)
		return statusCannotRun
	}
	if conf.bare {
		attr.Sys.Chroot = "/bare"
		attr.Dir = "/"
		if path, err = makeBareRoot("/bare", path); err != nil {
			p.fail(err)
		}
	}
	proc, err := os.StartProcess(path, conf.argv, attr)
	if err != nil {
		fmt.Fprintf(p.stderr, "vm: %v\n", err)
		return statusCannotRun
	}
	watch := watchdog(proc.Pid, conf.timeout)
	status := reap(proc.Pid)
	if watch.stop() {
		status = statusTimeout
	}
	stdout.finish()
	stderr.finish()
	return status
}

// reap collects every child, as an init process has to, until pid ends.
func reap(pid int) int {
	for {
		var ws unix.WaitStatus
		got, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR || got != pid && err == nil:
		case err != nil:
			return statusCannotRun
		case ws.Signaled():
			return 128 + int(ws.Signal())
		case ws.Exited():
			return ws.ExitStatus()
		}
	}
}

// relay copies a pipe to a serial line. The binary gets the pipe, so that it
// sees no terminal and does not wait for the line.
type relay struct {
	w    *os.File
	done chan struct{}
}

func newRelay(to *os.File) (*relay, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	re := &relay{w: w, done: make(chan struct{})}
	go func() {
		defer close(re.done)
		// Only the copy loop: splice to a serial line is not supported.
		_, _ = io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{r})
	}()
	return re, nil
}

// finish waits for the rest of the output, but not for ever: a process that the
// binary left behind may hold the pipe open.
func (r *relay) finish() {
	r.w.Close()
	select {
	case <-r.done:
	case <-time.After(outputGrace):
	}
}

// timer ends a binary that runs too long.
type timer struct {
	t     *time.Timer
	mu    sync.Mutex
	fired bool
}

// watchdog sends SIGQUIT, on which a Go program prints its goroutines, and then
// kills. Before that the kernel prints the blocked tasks to its log.
func watchdog(pid int, after time.Duration) *timer {
	w := &timer{}
	if after <= 0 {
		return w
	}
	w.t = time.AfterFunc(after, func() {
		w.mu.Lock()
		w.fired = true
		w.mu.Unlock()
		_ = os.WriteFile("/proc/sysrq-trigger", []byte("w"), 0o200)
		_ = unix.Kill(-pid, unix.SIGQUIT)
		time.Sleep(quitGrace)
		_ = unix.Kill(-pid, unix.SIGKILL)
	})
	return w
}

// stop reports whether the time was up.
func (w *timer) stop() bool {
	if w.t != nil {
		w.t.Stop()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.fired
}
