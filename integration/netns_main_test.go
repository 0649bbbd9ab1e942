//go:build linux

package integration

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/cm"
)

// movedMainEnv makes this program one whose main thread is locked and in a network
// namespace of its own; it has the address to dial.
const movedMainEnv = "RDMA_MOVED_MAIN"

// init runs on the main thread, before anything else of the program.
func init() {
	address := os.Getenv(movedMainEnv)
	if address == "" {
		return
	}
	runtime.LockOSThread()
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		fmt.Println("unshare:", err)
		os.Exit(1)
	}
	dial := func() string {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		c, err := cm.Dial(ctx, address)
		if err != nil {
			return "failed: " + err.Error()
		}
		_ = c.Close()
		return "connected"
	}
	fmt.Println("main:", dial())
	other := make(chan string)
	go func() { other <- dial() }()
	fmt.Println("other:", <-other)
	os.Exit(0)
}

// TestMovedMainThread: in a program whose main thread is locked and was moved into an
// empty network namespace, a dial to a name with two addresses happens in that namespace
// when the main goroutine makes it, and in the first one when another goroutine does.
func TestMovedMainThread(t *testing.T) {
	requireRDMA(t)
	const port = ":7484"
	const hosts = "/etc/hosts"
	old, err := os.ReadFile(hosts)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(hosts, old, 0o644) })
	if err := os.MkdirAll("/etc", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(hosts, []byte(addrV4+" twin\n"+addrV6+" twin\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	l := listenOn(t, port, nil)
	go func() {
		for {
			req, err := l.Accept(context.Background())
			if err != nil {
				return // closed at the end
			}
			if c, err := req.Accept(context.Background(), nil); err == nil {
				<-c.Done()
				_ = c.Close()
			}
		}
	}()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), movedMainEnv+"=twin"+port)
	out, err := cmd.CombinedOutput()
	text := string(out)
	if err != nil || !strings.Contains(text, "main: failed: ") || !strings.Contains(text, "other: connected") {
		t.Errorf("%v:\n%s", err, text)
	}
	if n := strings.Count(text, "no route to that address"); n != 2 {
		t.Errorf("%d of two addresses have no route in the empty namespace:\n%s", n, text)
	}
}
