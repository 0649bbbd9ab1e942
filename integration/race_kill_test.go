//go:build linux

package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

// A raceChild is a process of this binary that runs TestChildRace.
type raceChild struct {
	cmd   *exec.Cmd
	lines *bufio.Reader
}

// startRaceChild runs a role, "dial" or "listen", at an address.
func startRaceChild(t *testing.T, role, address string) *raceChild {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChildRace$")
	cmd.Env = append(os.Environ(), "RDMA_CHILD_RACE="+role+" "+address)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return &raceChild{cmd, bufio.NewReader(out)}
}

// kill ends the process without a word and waits for its end.
func (c *raceChild) kill() {
	_ = c.cmd.Process.Kill()
	_, _ = io.Copy(io.Discard, c.lines)
	_ = c.cmd.Wait()
}

// raceDials is how many connects a child has under way.
const raceDials = 16

// TestChildRace is the peer of the tests below, in a process of its own.
func TestChildRace(t *testing.T) {
	role, address, ok := strings.Cut(os.Getenv("RDMA_CHILD_RACE"), " ")
	if !ok {
		return // nobody's child
	}
	ctx := context.Background()
	if role == "listen" {
		l, err := cm.Listen(ctx, address, nil)
		fmt.Println(address, err)
		for err == nil {
			_, err = l.Accept(ctx) // and never answer
		}
		os.Exit(1)
	}
	for range raceDials {
		go func() {
			for {
				c, err := cm.Dial(ctx, address)
				if err == nil {
					<-c.Done()
					_ = c.Close()
				}
			}
		}()
	}
	select {}
}

// TestRacePeerKilled kills the peer's process between its requests and their
// accepts, and at random moments of them: each accept ends, and says that the
// peer has gone (parity scenarios 52, 54).
func TestRacePeerKilled(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := &watchdog{tb: t}
	l := listenOn(t, addrV4+":0", nil)
	for round := range raceCount(t, 10) {
		child := startRaceChild(t, "dial", l.Addr().String())
		ctx := testContext(t)
		requests := make([]*cm.Request, raceDials)
		for i := range requests {
			var err error
			if requests[i], err = l.Accept(ctx); err != nil {
				t.Fatal(err)
			}
		}
		killed := make(chan struct{})
		go func() {
			defer close(killed)
			if round%2 == 1 {
				time.Sleep(rand.N(20 * time.Millisecond))
			}
			child.kill()
		}()
		if round%2 == 0 {
			<-killed
		}
		var wg sync.WaitGroup
		for _, req := range requests {
			wg.Go(func() {
				err := acceptDead(ctx, w, req)
				if round%2 == 0 && !errors.Is(err, cm.ErrPeerGone) {
					t.Errorf("round %d: accept of a dead process: %v", round, err)
				} else if err != nil && !cutShort(err) && !errors.Is(err, cm.ErrNoHandles) {
					t.Errorf("round %d: accept of a dying process: %v", round, err)
				}
			})
		}
		wg.Wait()
		<-killed
		dropRequests(t, l)
	}
}

// acceptDead accepts, and if that works waits for the peer's end.
func acceptDead(ctx context.Context, w *watchdog, req *cm.Request) error {
	var c *cm.Conn
	err := w.do("accept", func() (err error) {
		c, err = req.Accept(ctx, nil)
		return err
	})
	if err != nil {
		return errors.Join(err, w.do("close request", req.Close))
	}
	err = w.do("receive", func() error { return second(c.Recv(ctx)) })
	return errors.Join(err, w.do("close", c.Close))
}

// dropRequests refuses what still waits.
func dropRequests(t *testing.T, l *cm.Listener) {
	t.Helper()
	for {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
		req, err := l.Accept(ctx)
		cancel()
		if err != nil {
			return
		}
		if err := req.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRaceServerKilled kills the server's process while its listener has
// requests that it does not answer: the dials are refused at once by its
// kernel.
func TestRaceServerKilled(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	w := &watchdog{tb: t}
	const address = addrV4 + ":7495"
	for round := range raceCount(t, 4) {
		child := startRaceChild(t, "listen", address)
		if line, err := child.lines.ReadString('\n'); line != address+" <nil>\n" {
			t.Fatalf("server said %q, %v", line, err)
		}
		ctx := testContext(t)
		results := make(chan error, raceDials)
		for range raceDials {
			go func() {
				results <- w.do("dial", func() error { return second(cm.Dial(ctx, address)) })
			}()
		}
		time.Sleep(rand.N(200 * time.Millisecond))
		child.kill()
		for range raceDials {
			if err := <-results; !errors.Is(err, cm.ErrRejected) {
				t.Errorf("round %d: dial to a killed server: %v", round, err)
			}
		}
	}
}
