//go:build linux

package integration

import (
	"errors"
	"net"
	"runtime/debug"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestIsolation: a client that knows key and address of what a server exported to
// another client can do nothing with them, and what it was given itself works.
func TestIsolation(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	rights := cm.RemoteRead | cm.RemoteWrite | cm.RemoteAtomic
	if onIWARP() { // there are no atomic operations
		rights = cm.RemoteRead | cm.RemoteWrite
	}
	for name, attack := range map[string]func(c *cm.Conn, m cm.RemoteMemory, local *cm.Region) error{
		"read":  func(c *cm.Conn, m cm.RemoteMemory, local *cm.Region) error { return c.Read(ctx, m, local.All()) },
		"write": func(c *cm.Conn, m cm.RemoteMemory, local *cm.Region) error { return c.Write(ctx, m, local.All()) },
		"atomic": func(c *cm.Conn, m cm.RemoteMemory, local *cm.Region) error {
			return c.FetchAdd(ctx, m, local.Slice(0, 8), 1)
		},
	} {
		if name == "atomic" && onIWARP() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			alice, aliceServer, _ := connect(t, l, &cm.Dialer{}, nil)
			bob, bobServer, _ := connect(t, l, &cm.Dialer{}, nil)
			secret := allocRegion(t, aliceServer, 64, rights)
			pattern(secret.Bytes(), 7)
			want := string(secret.Bytes())
			remote := secret.Remote()
			mem := allocRegion(t, bob, 64, 0)

			err := attack(bob, remote, mem)
			// The error, or its absence, is the transport's: siw says that a write is
			// done when TCP has it, rxe of 5.10 answers nothing. The end is certain.
			<-bob.Done()
			<-bobServer.Done()
			t.Logf("%s: %v; client: %v; server: %v", name, err, bob.Err(), bobServer.Err())
			if err == nil && !onIWARP() {
				t.Error("it succeeded")
			}
			if string(secret.Bytes()) != want {
				t.Error("the memory was changed")
			}
			for _, b := range mem.Bytes() {
				if b != 0 {
					t.Fatalf("the client has read %x", mem.Bytes())
				}
			}
			// The one it was meant for is not harmed, and can do it.
			own := allocRegion(t, alice, 64, 0)
			if err := alice.Read(ctx, remote, own.All()); err != nil || string(own.Bytes()) != want {
				t.Errorf("the client it was exported to: %v, %x", err, own.Bytes())
			}
		})
	}
}

// TestSharedPD: with a PD every client reads the one table of the server, also
// when those that came before are gone, and nobody else does.
func TestSharedPD(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	probe := listenOn(t, addrV4+":0", nil)
	pd, err := cm.OpenPD(probe.Device())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pd.Close(); err != nil {
			t.Error(err)
		}
	})
	table := allocRegion(t, pd, 10_000, cm.RemoteRead)
	pattern(table.Bytes(), 11)
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &cm.Config{PD: pd}})
	for range 3 {
		client, server, _ := connect(t, l, &cm.Dialer{}, nil)
		mem := allocRegion(t, client, table.Len(), 0)
		if err := client.Read(ctx, table.Remote(), mem.All()); err != nil || string(mem.Bytes()) != string(table.Bytes()) {
			t.Fatalf("read: %v", err)
		}
		exchange(t, client, server, 10)
		var busy *uverbs.BusyError
		if err := pd.Close(); !errors.As(err, &busy) || len(busy.Users) != 1 {
			t.Errorf("close of a PD with one connection: %v", err)
		}
		closeConn(t, client)
		closeConn(t, server)
	}
	outsider, _, _ := connect(t, probe, &cm.Dialer{}, nil)
	mem := allocRegion(t, outsider, 64, 0)
	if err := outsider.Read(ctx, table.Remote(), mem.All()); err == nil || mem.Bytes()[0] != 0 {
		t.Errorf("a client without the PD: %v, %x", err, mem.Bytes())
	}
}

// TestSharedPDRemoval: a PD without connections does not hold up the removal of
// its device, and its memory stays.
func TestSharedPDRemoval(t *testing.T) {
	requireRDMA(t)
	ctx := testContext(t)
	newLink(t, "rdmt3", "rmt3", "10.79.3.1/24")
	checkLeaks(t)
	pd, err := cm.OpenPD("rmt3")
	if err != nil {
		t.Fatal(err)
	}
	table := allocRegion(t, pd, 64, cm.RemoteRead)
	pattern(table.Bytes(), 1)
	want := string(table.Bytes())
	start := time.Now()
	if err := uverbs.DeleteLink(ctx, "rmt3"); err != nil {
		t.Fatal(err)
	}
	t.Logf("deleted in %v", time.Since(start))
	for _, err := pd.Alloc(64, 0); ; _, err = pd.Alloc(64, 0) {
		if errors.Is(err, cm.ErrDeviceRemoved) {
			break
		}
		if err == nil || ctx.Err() != nil {
			t.Fatalf("alloc after the removal: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
	stillThere(t, "the table", table.Bytes(), want)
	if err := pd.Close(); err != nil {
		t.Error(err)
	}
	stillThere(t, "the table of a closed PD", table.Bytes(), want)
	if _, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Name: "rmt3", Type: linkType(), Netdev: "rdmt3"}); err != nil {
		t.Fatal(err)
	}
}

// TestLentMemory: a message and a region stay as they are when their connection is
// closed, whoever connects and sends then, until they are given back. The kernel
// has nothing of them any more.
func TestLentMemory(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	connect(t, l, &cm.Dialer{}, nil) // the device stays open
	before := hold(t)
	client, server, _ := connect(t, l, &cm.Dialer{}, nil)
	if err := client.SendCopy(ctx, []byte("for this server alone")); err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	mem := allocRegion(t, server, 5000, cm.RemoteRead)
	copy(mem.Bytes(), "a region")
	data, region := m.Data, mem.Bytes()[:8]
	closeConn(t, server)
	closeConn(t, client)
	use := cm.ReadMemoryUse()
	for range 5 {
		c, s, _ := connect(t, l, &cm.Dialer{}, nil)
		exchange(t, c, s, 40)
		closeConn(t, c)
		closeConn(t, s)
	}
	stillThere(t, "message", data, "for this server alone")
	stillThere(t, "region", region, "a region")
	stillThere(t, "region", mem.Slice(0, 8).Bytes(), "a region")
	if use.Left == 0 {
		t.Errorf("memory that is mapped still is not counted: %+v", use)
	}
	waitResources(t, before)
	if _, err := server.Recv(ctx); !errors.Is(err, net.ErrClosed) {
		t.Errorf("receive after Close: %v", err)
	}
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	if err := mem.Close(); err != nil {
		t.Error(err)
	}
	if left := cm.ReadMemoryUse().Left; left != 0 {
		t.Errorf("%d bytes are left", left)
	}
}

// stillThere reads memory that may not be mapped any more.
func stillThere(t *testing.T, what string, b []byte, want string) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%s: %v", what, e)
		}
	}()
	if string(b) != want {
		t.Errorf("%s: %q, want %q", what, b, want)
	}
}

// waitResources waits until the kernel has no more objects than before.
func waitResources(t *testing.T, before holdings) {
	t.Helper()
	more := func() string {
		now := hold(t)
		for dev, counts := range now.Resources {
			for _, kind := range []string{"pd", "mr", "qp"} {
				if counts[kind] > before.Resources[dev][kind] {
					return kind + " of " + dev
				}
			}
		}
		return ""
	}
	deadline := time.Now().Add(leakPatience)
	for more() != "" {
		if time.Now().After(deadline) {
			t.Errorf("the kernel has more than before: %s", more())
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
