//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// lostWithin is how long a connection may take to say that it has ended: a second
// from its first sign, and what an emulated and busy machine needs besides. It is less
// than the 30 seconds after which a keep-alive would begin to ask.
const lostWithin = 20 * time.Second

// waitLost waits for the end of a connection on which nobody waits.
func waitLost(t *testing.T, what string, c *cm.Conn) error {
	t.Helper()
	start := time.Now()
	select {
	case <-c.Done():
	case <-time.After(lostWithin):
		t.Fatalf("%s: not known to have ended after %v\n%s", what, lostWithin, stacks())
	}
	t.Logf("%s after %v: %v", what, time.Since(start), c.Err())
	if err := c.Err(); !errors.Is(err, cm.ErrConnLost) || errors.Is(err, net.ErrClosed) {
		t.Errorf("%s: %v does not match ErrConnLost alone", what, err)
	}
	return c.Err()
}

// sameCause checks that operations on a connection that has ended say why, after
// the messages that came before it did.
func sameCause(t *testing.T, c *cm.Conn) {
	t.Helper()
	ctx := testContext(t)
	m, recv := c.Recv(ctx)
	for ; recv == nil; m, recv = c.Recv(ctx) {
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
	}
	for name, err := range map[string]error{"receive": recv, "send": c.SendCopy(ctx, []byte("x"))} {
		if !errors.Is(err, c.Err()) {
			t.Errorf("%s ended with %v, the connection with %v", name, err, c.Err())
		}
	}
}

// TestLostBadKey: a peer that writes with a bad key breaks the queue pair of the
// side that it writes to, which gets nothing but flushed receives.
func TestLostBadKey(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	client, server := pair(t)
	exposed, mem := allocRegion(t, server, 64, cm.RemoteRead), allocRegion(t, client, 64, 0)
	wrote := make(chan error, 1)
	go func() { wrote <- client.Write(testContext(t), exposed.Remote(), mem.All()) }()
	if onIWARP() { // the server's kernel ends the TCP connection
		waitLost(t, "server", server)
		<-wrote
		return
	}
	if err := waitLost(t, "server", server); !strings.Contains(err.Error(), "key") {
		t.Errorf("server: %v", err)
	}
	sameCause(t, server)
	err := <-wrote // on 5.10 no answer comes, and the retries take a while
	var ce *uverbs.CompletionError
	if !errors.As(err, &ce) || !errors.Is(err, cm.ErrConnLost) {
		t.Errorf("client: %v", err)
	}
	if kernelAtLeast(t, 6, 1) && (ce == nil || ce.Status != abi.IB_WC_REM_ACCESS_ERR || !strings.Contains(err.Error(), "key")) {
		t.Errorf("client: %v", err)
	}
	sameCause(t, client)
}

// TestLostLongMessage: the side whose limit it was says so.
func TestLostLongMessage(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &cm.Config{RecvSize: 100}})
	client, server, _ := connect(t, l, &cm.Dialer{}, nil)
	sent := make(chan error, 1)
	go func() { sent <- client.SendCopy(testContext(t), make([]byte, 1000)) }()
	if err := waitLost(t, "server", server); !onIWARP() && !strings.Contains(err.Error(), "Config.RecvSize") {
		t.Errorf("server: %v", err)
	}
	err := <-sent
	t.Logf("client: %v", err)
	waitLost(t, "client", client)
}

// TestLostPortDown takes the interface down under connections that are idle, and
// that send: both ends name the port, and closing them waits for nobody.
func TestLostPortDown(t *testing.T) {
	requireRDMA(t)
	for name, busy := range map[string]bool{"idle": false, "busy": true} {
		t.Run(name, func(t *testing.T) {
			// A device of its own: soft-RoCE's queue for the connection manager's
			// messages does not recover from what is sent while the port is down.
			addr := newLink(t, "rdmt4", "rmt4", "10.79.4.1/24")
			checkLeaks(t)
			lostPort(t, addr, busy)
		})
	}
}

func lostPort(t *testing.T, addr string, busy bool) {
	link, err := netlink.LinkByName("rdmt4")
	if err != nil {
		t.Fatal(err)
	}
	patient := &cm.Config{CloseTimeout: time.Hour}
	wildcard := listenOn(t, "0.0.0.0:0", &cm.ListenConfig{Config: patient})
	_, port, _ := strings.Cut(wildcard.Addr().String(), ":")
	var conns []*cm.Conn
	var ends []<-chan error
	for range 5 {
		client, server, _ := connectTo(t, wildcard, &cm.Dialer{Config: patient}, nil, addr+":"+port)
		conns = append(conns, client, server)
	}
	for i := 0; busy && i < len(conns); i++ {
		end, moving := make(chan error, 1), make(chan struct{})
		ends = append(ends, end)
		go func() { end <- pingPong(conns[i], i%2 == 0, func() { close(moving) }) }()
		if i%2 == 1 {
			<-moving
		}
	}
	if err := netlink.LinkSetDown(link); err != nil {
		t.Fatal(err)
	}
	for i, c := range conns {
		err := waitLost(t, fmt.Sprintf("connection %d", i), c)
		var pe *cm.PortError
		switch named := errors.As(err, &pe) && strings.Contains(err.Error(), "port 1 of rmt4 is down"); {
		case named:
		case onIWARP() && errors.Is(err, cm.ErrPeerClosed): // TCP ended first
		default:
			t.Errorf("connection %d: %v", i, err)
		}
		sameCause(t, c)
	}
	for i, end := range ends {
		if err := <-end; !errors.Is(err, conns[i].Err()) {
			t.Errorf("an operation of connection %d ended with %v", i, err)
		}
	}
	// DESTROY_ID says goodbye, and what soft-RoCE of 5.10 is given to send while its
	// port is down it keeps, with the ID, until the device goes.
	if err := netlink.LinkSetUp(link); err != nil {
		t.Fatal(err)
	}
	waitForGID(t, "rmt4", addr)
	start := time.Now()
	for _, c := range conns {
		closeConn(t, c)
	}
	t.Logf("%d connections closed in %v", len(conns), time.Since(start))
}

// TestLostInterfaceDeleted: a device that goes with its interface, under traffic,
// is named by all operations.
func TestLostInterfaceDeleted(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t) // with the device gone
	addr := newLink(t, "rdmt5", "rmt5", "10.79.5.1/24")
	link, err := netlink.LinkByName("rdmt5")
	if err != nil {
		t.Fatal(err)
	}
	wildcard := listenOn(t, "0.0.0.0:0", nil)
	_, port, _ := strings.Cut(wildcard.Addr().String(), ":")
	ends := busyConns(t, wildcard, addr+":"+port)
	if err := netlink.LinkDel(link); err != nil {
		t.Fatal(err)
	}
	for _, err := range drain(t, ends, 2*busyPairs) {
		if !errors.Is(err, cm.ErrDeviceRemoved) && !errors.Is(err, cm.ErrPeerClosed) {
			t.Errorf("an operation ended with %v", err)
		}
	}
}

// TestLostPeerKilled kills a peer that is written to and sent to all the time: every
// operation says that the peer has gone, and not that a key is wrong.
func TestLostPeerKilled(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	for round := range 5 {
		l := listenOn(t, addrV4+":0", nil)
		peer, conn := connectedPeer(ctx, t, l, "TestChildLends", "RDMA_CHILD_LENDS")
		m, err := conn.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var far cm.RemoteMemory
		if err := errors.Join(far.UnmarshalBinary(m.Data), m.Release()); err != nil {
			t.Fatal(err)
		}
		mem := allocRegion(t, conn, 4096, 0)
		ends, moving := make(chan error, 3), make(chan struct{})
		go func() {
			for i := 0; ; i++ {
				if err := conn.Write(ctx, far, mem.All()); err != nil {
					ends <- err
					return
				}
				if i == 10 {
					close(moving)
				}
			}
		}()
		go func() {
			_, err := conn.Recv(ctx)
			ends <- err
		}()
		<-moving
		_ = peer.Process.Kill()
		_ = peer.Wait()
		for range 2 {
			err := <-ends
			if !errors.Is(err, cm.ErrPeerClosed) || !errors.Is(err, io.EOF) || !errors.Is(err, cm.ErrConnLost) {
				t.Errorf("round %d: %v", round, err)
			}
		}
		sameCause(t, conn)
		closeConn(t, conn)
	}
}

// TestChildLends is the peer of TestLostPeerKilled: it lends memory.
func TestChildLends(t *testing.T) {
	address := os.Getenv("RDMA_CHILD_LENDS")
	if address == "" {
		return // nobody's child
	}
	ctx := context.Background()
	c, err := cm.Dial(ctx, address)
	if err == nil {
		var r *cm.Region
		if r, err = c.Alloc(4096, cm.RemoteWrite); err == nil {
			var b []byte
			if b, err = r.Remote().MarshalBinary(); err == nil {
				err = c.SendCopy(ctx, b)
			}
		}
	}
	if err != nil {
		os.Stdout.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("connected\n")
	<-c.Done()
}

// TestLostNoReads: reads and atomics that the peer does not serve are refused, and
// the connection carries on.
func TestLostNoReads(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for name, cfgs := range map[string][2]cm.Config{
		"the peer serves none": {{}, {PeerReads: -1}},
		"own choice":           {{LocalReads: -1}, {}},
	} {
		l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &cfgs[1]})
		client, server, _ := connect(t, l, &cm.Dialer{Config: &cfgs[0]}, nil)
		far, near := allocRegion(t, server, 64, cm.RemoteRead|cm.RemoteWrite), allocRegion(t, client, 64, 0)
		ctx := testContext(t)
		for op, err := range map[string]error{
			"read":   client.Read(ctx, far.Remote(), near.All()),
			"atomic": client.FetchAdd(ctx, far.Slice(0, 8).Remote(), near.Slice(0, 8), 1),
		} {
			// siw does not tell what the peer chose, and serves reads all the same.
			served := onIWARP() && op == "read" && cfgs[1].PeerReads < 0 && err == nil
			if !served && !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %s: %v", name, op, err)
			}
		}
		exchange(t, client, server, 10)
		if err := client.Write(ctx, far.Remote(), near.All()); err != nil {
			t.Errorf("%s: write: %v", name, err)
		}
	}
}

// TestKeepAliveHealthy: a peer that is there answers every question, and neither
// side's program sees any of it.
func TestKeepAliveHealthy(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	cfg := &cm.Config{SendDepth: 1, KeepAlive: cm.KeepAlive{Interval: 10 * time.Millisecond}}
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: cfg})
	client, server, _ := connect(t, l, &cm.Dialer{Config: cfg}, nil)
	exchange(t, client, server, 10)
	for range 3 {
		time.Sleep(300 * time.Millisecond) // of silence, in which many questions are asked
		exchange(t, client, server, 10)
	}
	if err := errors.Join(client.Err(), server.Err()); err != nil {
		t.Error(err)
	}
}

// TestACKTimeout: Config.ACKTimeout reaches the queue pairs of both sides.
func TestACKTimeout(t *testing.T) {
	requireRDMA(t)
	if onIWARP() {
		t.Skip("TCP repeats on iWARP")
	}
	checkLeaks(t)
	for _, tc := range []struct{ dials, listens, client, server time.Duration }{
		{dials: 100 * time.Millisecond, client: 100 * time.Millisecond, server: 100 * time.Millisecond},
		{dials: 100 * time.Millisecond, listens: time.Second, client: 100 * time.Millisecond, server: time.Second},
	} {
		l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &cm.Config{ACKTimeout: tc.listens}})
		client, server, _ := connect(t, l, &cm.Dialer{Config: &cm.Config{ACKTimeout: tc.dials}}, nil)
		for c, want := range map[*cm.Conn]time.Duration{client: tc.client, server: tc.server} {
			attr, err := c.QP().Query()
			if err != nil {
				t.Fatal(err)
			}
			// The next power of two; the connection manager doubles what travels.
			if got := 4096 * time.Nanosecond << attr.Timeout; got < want || got > 4*want {
				t.Errorf("%+v: a queue pair waits for %v (code %d)", tc, got, attr.Timeout)
			}
		}
	}
}
