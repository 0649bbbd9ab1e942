//go:build linux

package integration

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// TestNoPortsLeft: the error of the connection for which no local port is left names
// the setting that says how many there are.
func TestNoPortsLeft(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":7480", nil)
	setSysctl(t, "/proc/sys/net/ipv4/ip_local_port_range", "45000 45001")
	for range 2 {
		if client, _, _ := connect(t, l, &cm.Dialer{}, nil); client == nil {
			t.Fatal("a port of the range was not to be had")
		}
	}
	conn, err := cm.Dial(testContext(t), addrV4+":7480")
	if err == nil {
		conn.Close()
		t.Fatal("a third connection got one of two ports")
	}
	if !errors.Is(err, cm.ErrNoPorts) || !errors.Is(err, syscall.EADDRNOTAVAIL) || !strings.Contains(err.Error(), "net.ipv4.ip_local_port_range") {
		t.Errorf("dial: %v", err)
	}
	_, err = cm.Listen(testContext(t), addrV4+":0", nil)
	if !errors.Is(err, cm.ErrNoPorts) || errors.Is(err, cm.ErrAddrInUse) || !strings.Contains(err.Error(), "net.ipv4.ip_local_port_range") {
		t.Errorf("listen: %v", err)
	}
}
