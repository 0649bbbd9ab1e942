//go:build linux

package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pingEnd is an end as the handshake describes it.
type pingEnd struct {
	Device   string
	GID      string
	GIDIndex int `json:"gid_index"`
	MTU, TOS int
	Netdev   int `json:"netdev_mtu"`
}

type pingDataDoc struct {
	You, Peer   *pingEnd
	Differences []string
	Sizes       []struct{ Size, Sent, Verified int }
}

func (r probeResult) pingData(t *testing.T) (d pingDataDoc) {
	t.Helper()
	r.want(t, 0)
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *pingDataDoc) check(t *testing.T) {
	t.Helper()
	if len(d.Sizes) < 20 {
		t.Errorf("sizes %v", d.Sizes)
	}
	for _, s := range d.Sizes {
		if s.Sent == 0 || s.Verified != s.Sent {
			t.Errorf("size %+v", s)
		}
	}
}

// TestPingData: all sizes come back, and both ends say what they are like.
func TestPingData(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	for _, host := range []string{addrV4, addrV6} {
		t.Run(host, func(t *testing.T) {
			checkLeaks(t)
			server, where := probeServe(t, net.JoinHostPort(host, "0"))
			d := probe(t, "ping", where, "--data", "--json", "-C", "1", "--tos", "32").pingData(t)
			d.check(t)
			if d.You == nil || d.Peer == nil {
				t.Fatalf("ends %+v, %+v", d.You, d.Peer)
			}
			if *d.You != *d.Peer || len(d.Differences) != 0 {
				t.Errorf("on one port the ends differ: %+v, %+v, %v", *d.You, *d.Peer, d.Differences)
			}
			want := host
			if !strings.Contains(host, ":") {
				want = "::ffff:" + host
			}
			if d.You.Device != "rxe0" || d.You.GID != want || d.You.GIDIndex < 1 || d.You.MTU != 1024 || d.You.Netdev != 1500 || d.You.TOS != 32 {
				t.Errorf("own end %+v", *d.You)
			}
			server.await(t, "its end: rxe0 "+want+", port MTU 1024, ToS 32")
			r := probe(t, "ping", where, "-C", "1", "-v")
			r.want(t, 0)
			r.contains(t, "YOU", "PEER", "packet MTU  1024")
			server.signal(t, syscall.SIGTERM)
		})
	}
}

// TestPingDataRping: the C server neither minds what the handshake carries nor
// answers it.
func TestPingDataRping(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	rping := requireTool(t, "rping", "rdmacm-utils")
	checkLeaks(t)
	rpingPort++
	port := fmt.Sprint(rpingPort)
	server := start(t, rping, "-s", "-a", addrV4, "-p", port, "-S", "65535")
	for deadline := time.Now().Add(testTime); ; time.Sleep(50 * time.Millisecond) {
		r := probe(t, "ping", net.JoinHostPort(addrV4, port), "--data", "--json", "-C", "1")
		if r.code == 6 && time.Now().Before(deadline) {
			continue // it does not listen yet
		}
		d := r.pingData(t)
		d.check(t)
		if d.You == nil || d.Peer != nil {
			t.Errorf("ends %+v, %+v", d.You, d.Peer)
		}
		break
	}
	server.exit(t)
}
