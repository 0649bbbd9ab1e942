//go:build linux

package integration

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
)

const keepAliveControl, keepAlivePort = ":7495", ":7176" // where the guests meet

// TestNodesKeepAlive: packets are lost under two sides that only receive, and each
// learns that the other does not answer: guest 0 because the answer takes too long,
// guest 1, whose ACK time-out is short, from its device.
func TestNodesKeepAlive(t *testing.T) {
	node := requireNodes(t)
	if onIWARP() {
		t.Skip("iWARP has no UDP port to filter")
	}
	filter := newRoCEFilter(t)
	checkLeaks(t)
	other := controlConn(t, node, keepAliveControl)
	if err := other.SetDeadline(time.Now().Add(2 * testTime)); err != nil {
		t.Fatal(err)
	}
	cfg := &cm.Config{KeepAlive: cm.KeepAlive{Interval: 200 * time.Millisecond, Limit: time.Second}}
	var c *cm.Conn
	if node == 0 {
		ctx := testContext(t)
		l := listenOn(t, nodeV4(0)+keepAlivePort, &cm.ListenConfig{Config: cfg})
		ch := acceptOne(ctx, l, nil)
		meet(t, other)
		a := <-ch
		if a.err != nil {
			t.Fatal(a.err)
		}
		c = a.conn
	} else {
		cfg.KeepAlive.Limit, cfg.ACKTimeout, cfg.RetryCount = time.Hour, 20*time.Millisecond, 2
		meet(t, other)
		var err error
		if c, err = (&cm.Dialer{Config: cfg}).Dial(testContext(t), nodeV4(0)+keepAlivePort); err != nil {
			t.Fatal(err)
		}
	}
	meet(t, other)
	time.Sleep(time.Second) // in which questions are answered
	if c.Err() != nil {
		t.Fatal(c.Err())
	}
	meet(t, other)
	filter.add(t)
	meet(t, other) // or a goodbye might pass
	if err := waitLost(t, fmt.Sprintf("guest %d", node), c); !errors.Is(err, cm.ErrPeerDead) {
		t.Errorf("guest %d: %v", node, err)
	}
	sameCause(t, c)
	start := time.Now()
	closeConn(t, c)
	t.Logf("closed in %v", time.Since(start))
	meet(t, other) // the filter stays until both have noticed
	filter.remove(t)
	meet(t, other)
}

// meet waits until both guests are there.
func meet(t *testing.T, other net.Conn) {
	t.Helper()
	if _, err := fmt.Fprintln(other, "here"); err != nil {
		t.Fatal(err)
	}
	var line string
	if _, err := fmt.Fscanln(other, &line); err != nil {
		t.Fatalf("the other guest: %v", err)
	}
}
