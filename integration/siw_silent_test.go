//go:build linux

package integration

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// TestSiwSilentPeer: a connect to a peer of which nothing comes ends with its context,
// and the ID can be closed, although the kernel's command goes on.
func TestSiwSilentPeer(t *testing.T) {
	requireSiw(t)
	checkLeaks(t)
	const silent = "10.77.0.97"
	deafNeighbour(t, netdev, silent)
	setSysctl(t, "/proc/sys/net/ipv4/tcp_syn_retries", "4") // 31 seconds
	pd := idsPD(t)
	id := idsResolved(t, nil, sockaddr(t, silent+":7499"))
	number := idsSide(t, id, pd).qp.Number()
	begin := time.Now()
	ctx, cancel := context.WithTimeout(testContext(t), time.Second)
	defer cancel()
	if _, err := id.Connect(ctx, idsParam(number), ucma.ECE{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("connect: %v", err)
	}
	if took := time.Since(begin); took > 20*time.Second {
		t.Errorf("connect took %v", took)
	}
	if err := id.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(begin); took > 25*time.Second {
		t.Errorf("connect and close took %v", took)
	}
	if _, err := id.InitQPAttr(abi.IB_QPS_INIT); err == nil {
		t.Error("a command on a closed ID")
	}
}

// setSysctl changes a setting of the kernel for the time of a test.
func setSysctl(t *testing.T, path, value string) {
	t.Helper()
	old, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, []byte(value), 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.WriteFile(path, old, 0) })
}
