//go:build linux

package integration

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cm"
)

const (
	blackHoleControl = ":7494" // where guest 1 tells guest 0 what to do
	blackHolePort    = ":7174"
	nodeSilent       = "10.78.0.99" // on the segment, but nobody has it
)

// TestNodesBlackHole: guest 0 has a firewall that drops RoCE's packets, and
// guest 1 learns in time what is wrong, and leaves nothing behind (P6). That it
// is the filter shows in what works before, beside and after it.
func TestNodesBlackHole(t *testing.T) {
	node := requireNodes(t)
	requireProbe(t)
	if onIWARP() {
		t.Skip("iWARP has no UDP port to filter")
	}
	filter := newRoCEFilter(t) // on both, so that both skip without the program
	checkLeaks(t)
	other := controlConn(t, node, blackHoleControl)
	if err := other.SetDeadline(time.Now().Add(2 * testTime)); err != nil {
		t.Fatal(err)
	}
	if node == 0 {
		serveFiltered(t, other, filter)
		return
	}
	blackHoleAsk(t, other, "serve")
	blackHoleAnswers(t)
	blackHoleAsk(t, other, "filter")
	blackHoleElse(t)
	blackHoleSilence(t)
	// Of ping, twice cmping, and a dial.
	if n := blackHoleAsk(t, other, "remove"); n < 4 {
		t.Errorf("the filter has swallowed %d packets: was it in the way?", n)
	}
	blackHoleAnswers(t)
}

// serveFiltered serves pings, and filters while guest 1 wants it. Each order is
// answered with a number, of packets swallowed if it is the end of the filter.
func serveFiltered(t *testing.T, other net.Conn, filter *roceFilter) {
	var server *process
	for orders := bufio.NewScanner(other); orders.Scan(); {
		answer := 0
		switch order := orders.Text(); order {
		case "serve":
			server, _ = probeServe(t, blackHolePort)
		case "filter":
			filter.add(t)
		case "remove":
			answer = filter.remove(t)
		default:
			t.Fatalf("order %q", order)
		}
		if _, err := fmt.Fprintln(other, answer); err != nil {
			t.Fatal(err)
		}
	}
	if server == nil {
		t.Fatal("guest 1 has left")
	}
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}

// blackHoleAsk gives guest 0 an order and returns its answer.
func blackHoleAsk(t *testing.T, other net.Conn, order string) (answer int) {
	t.Helper()
	if _, err := fmt.Fprintln(other, order); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(other, &answer); err != nil {
		t.Fatalf("guest 0 does not %s: %v", order, err)
	}
	return answer
}

// blackHoleAnswers: without the filter guest 0 answers.
func blackHoleAnswers(t *testing.T) {
	t.Helper()
	probe(t, "ping", nodeV4(0), "-C", "1").want(t, 0)
	if d := cmping(t, 0, nodeV6(0)+blackHolePort, "-C", "1"); d.State != "up" || !d.Listener {
		t.Errorf("cmping without a filter: %+v", d)
	}
}

// blackHoleElse: what is no RoCE passes the filter. rdmaprobe path, to which the
// remedy points, shows that.
func blackHoleElse(t *testing.T) {
	t.Helper()
	c, err := net.DialTimeout("tcp", nodeV4(0)+":9", testTime)
	if err == nil {
		_ = c.Close()
	} else if !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("TCP beside the filter: %v", err)
	}
	r := probe(t, "path", nodeV4(0))
	r.want(t, 0)
	if text := strings.Join(strings.Fields(r.stdout), " "); !strings.Contains(text, " B arrive ") {
		t.Errorf("other packets do not pass the filter:\n%s", r.stdout)
	}
}

// Causes that the commands give, with a remedy that fits.
const (
	causeFiltered   = "no answer (UDP port 4791 filtered, or host down)"
	remedyFiltered  = "drops UDP port 4791"
	causeNeighbour  = "no neighbour for " + nodeSilent
	remedyNeighbour = "rdmaprobe path " + nodeSilent
)

// blackHoleTime is the time-out of each command and dial, in which a busy machine comes
// as far as to the request, and blackHoleMargin how much longer they may take. An
// emulated processor takes long to start a program, and several start at once.
const (
	blackHoleTime   = 5 * time.Second
	blackHoleMargin = 2 * time.Second
)

// blackHoleSilence: with the filter in force, commands and dials end in time, say
// in which step, and leave no kernel object, not even for a moment.
func blackHoleSilence(t *testing.T) {
	before := hold(t).Resources
	t.Run("silence", func(t *testing.T) {
		for _, tt := range []struct{ address, step, cause, remedy string }{
			{nodeV4(0), "dial: connect", causeFiltered, remedyFiltered},
			{nodeSilent, "dial: resolve address", causeNeighbour, remedyNeighbour},
		} {
			t.Run("ping "+tt.address, func(t *testing.T) {
				t.Parallel()
				var r probeResult
				inTime(t, "ping", blackHoleTime+blackHoleMargin, func() {
					r = probe(t, "ping", tt.address, "-C", "1", "--timeout", blackHoleTime.String(), "--json")
				})
				r.want(t, 5)
				e := r.decode(t).Error
				if e.Class != "timeout" || e.Step != tt.step || e.Cause != tt.cause || !strings.Contains(e.Remedy, tt.remedy) {
					t.Errorf("error %+v", e)
				}
			})
		}
		for _, host := range []string{nodeV4(0), nodeV6(0)} {
			t.Run("cmping "+host, func(t *testing.T) {
				t.Parallel()
				inTime(t, "cmping", blackHoleTime+blackHoleMargin, func() {
					d := cmping(t, 5, host+blackHolePort, "-C", "1", "--timeout", blackHoleTime.String())
					if e := d.Error; d.State != "no answer" || e.Step != "connect" || e.Cause != causeFiltered || !strings.Contains(e.Remedy, remedyFiltered) {
						t.Errorf("answer %+v", d)
					}
				})
			})
		}
		for host, step := range map[string]string{nodeV4(0): "connect", nodeSilent: "resolve address"} {
			t.Run("dial "+host, func(t *testing.T) {
				t.Parallel()
				inTime(t, "dial", blackHoleTime+blackHoleMargin, func() { blackHoleDial(t, host, step) })
			})
		}
	})
	if diff := cmp.Diff(before, hold(t).Resources); diff != "" {
		t.Errorf("left behind (-before +after):\n%s", diff)
	}
}

// blackHoleDial is the same for programs.
func blackHoleDial(t *testing.T, host, step string) {
	ctx, cancel := context.WithTimeout(context.Background(), blackHoleTime)
	defer cancel()
	c, err := cm.Dial(ctx, host+blackHolePort)
	if err == nil {
		closeConn(t, c)
		t.Fatal("the peer has answered")
	}
	// The kernel gives a silent neighbour up after some three seconds by itself.
	inTime := errors.Is(err, context.DeadlineExceeded) || host == nodeSilent && errors.Is(err, syscall.ETIMEDOUT)
	var oe *cm.OpError
	if !errors.As(err, &oe) || !oe.Timeout() || !os.IsTimeout(err) || !inTime || oe.Step != step {
		t.Errorf("dial: %v", err)
	}
}
