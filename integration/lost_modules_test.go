//go:build linux

package integration

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestRemovalModuleOrder deletes a device under idle connections where rdma_cm was
// loaded before ib_uverbs, and the other way round. In the first case ib_uverbs
// hears of the removal first (remove_client_context goes from the last client to the
// first) and before 7.3 waits for the descriptors that the connections hold; the
// connection manager's event comes after that, and would never.
func TestRemovalModuleOrder(t *testing.T) {
	requireRDMA(t)
	if _, err := os.Stat("/vm/load"); err != nil {
		t.Skip("takes modules out of the kernel, which only a guest of scripts/vm is for")
	}
	links, err := uverbs.Devices()
	if err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{"rdma_cm", "ib_uverbs"} {
		t.Run(first+" first", func(t *testing.T) {
			reloadModules(t, first)
			for _, l := range links {
				port, _ := l.Port(1)
				if _, err := uverbs.AddLink(testContext(t), uverbs.LinkConfig{Name: l.Name, Type: linkType(), Netdev: port.Netdev}); err != nil {
					t.Fatal(err)
				}
			}
			checkLeaks(t) // with the device gone
			addr := newLink(t, "rdmt7", "rmt7", "10.79.7.1/24")
			wildcard := listenOn(t, "0.0.0.0:0", nil)
			_, port, _ := strings.Cut(wildcard.Addr().String(), ":")
			before := deviceFiles(t)
			var conns []*cm.Conn
			for range 3 {
				client, server, _ := connectTo(t, wildcard, &cm.Dialer{}, nil, addr+":"+port)
				conns = append(conns, client, server)
			}
			deleteLink(t, "rmt7") // fails when it takes long
			for _, c := range conns {
				if err := waitLost(t, "connection", c); !errors.Is(err, cm.ErrDeviceRemoved) && !errors.Is(err, cm.ErrPeerClosed) {
					t.Errorf("ended with %v", err)
				}
			}
			waitForFiles(t, before)
		})
	}
}

// reloadModules takes the modules of verbs and connection manager out of the kernel,
// and loads them in another order.
func reloadModules(t *testing.T, first string) {
	t.Helper()
	for _, name := range []string{"rdma_rxe", "siw", "rdma_ucm", "ib_umad", "rdma_cm", "ib_uverbs"} {
		for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
			err := unix.DeleteModule(name, unix.O_NONBLOCK)
			if err == nil || err == unix.ENOENT {
				break
			}
			if time.Since(start) > removalTime {
				t.Fatalf("take %s out: %v", name, err)
			}
		}
	}
	driver := "rdma_rxe"
	if onIWARP() {
		driver = "siw"
	}
	for _, name := range []string{first, "ib_uverbs", "rdma_ucm", driver} {
		if out, err := exec.Command("/sbin/modprobe", name).CombinedOutput(); err != nil {
			t.Fatalf("load %s: %v\n%s", name, err, out)
		}
	}
}
