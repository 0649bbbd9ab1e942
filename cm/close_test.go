package cm

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// TestPeerCloses: the last messages are delivered, then the end is reported.
func TestPeerCloses(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	for range 3 {
		if err := client.SendCopy(ctx, []byte("bye")); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	waitEnd(t, server)
	for range 3 {
		if text, err := recvText(ctx, server); err != nil || text != "bye" {
			t.Fatalf("last message: %v", err)
		}
	}
	_, err := server.Recv(ctx)
	wants(t, err, ErrPeerClosed, io.EOF)
	wants(t, server.SendCopy(ctx, []byte("x")), ErrPeerClosed)
	wants(t, server.Err(), ErrPeerClosed)
	wants(t, client.SendCopy(ctx, []byte("x")), net.ErrClosed)
	_, err = client.Recv(ctx)
	wants(t, err, net.ErrClosed)
}

// TestPeerClosesWhileWaiting: a blocked receive gets the message that came
// before the end, however the two race.
func TestPeerClosesWhileWaiting(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	for range 50 {
		client, server := r.pair(l, &Dialer{Config: quick})
		ctx := testContext(t)
		got := async(func() (string, error) { return recvText(ctx, server) })
		if err := client.SendCopy(ctx, []byte("bye")); err != nil {
			t.Fatal(err)
		}
		if err := client.Close(); err != nil {
			t.Fatal(err)
		}
		if s, err := get(t, got); err != nil || s != "bye" {
			t.Fatalf("got %q, %v", s, err)
		}
	}
}

func TestCloseWakesOperations(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: &Config{SendDepth: 1, CloseTimeout: 20 * time.Millisecond}})
	const n = 4
	var waits []<-chan result[*Message]
	for range n {
		waits = append(waits, async(func() (*Message, error) { return client.Recv(context.Background()) }))
	}
	time.Sleep(time.Millisecond)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for _, w := range waits {
		_, err := get(t, w)
		wants(t, err, net.ErrClosed)
	}
	if err := client.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func TestConcurrentCloseAndUse(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	for range 20 {
		client, server := r.pair(l, &Dialer{Config: quick})
		ctx := testContext(t)
		var wg sync.WaitGroup
		big := bytes.Repeat([]byte("x"), 1000)
		for range 2 {
			wg.Go(func() {
				for client.SendCopy(ctx, big) == nil {
				}
			})
			wg.Go(func() {
				buf := make([]byte, 1000)
				for {
					if _, err := server.RecvCopy(ctx, buf); err != nil {
						return
					}
				}
			})
			wg.Go(func() {
				for {
					reg, err := server.Alloc(100, RemoteWrite)
					if err != nil {
						return
					}
					if reg.Close() != nil {
						return
					}
				}
			})
			wg.Go(func() { _, _ = client.ID().Route() })
		}
		time.Sleep(200 * time.Microsecond)
		for _, c := range []*Conn{server, client} {
			for range 2 {
				wg.Go(func() {
					if err := c.Close(); err != nil {
						t.Error(err)
					}
				})
			}
		}
		wg.Wait()
	}
}

// TestDisconnectThenClose: Close does not wait for an answer that was taken
// already.
func TestDisconnectThenClose(t *testing.T) {
	r := newRig(t)
	patient := &Config{CloseTimeout: testTime}
	client, server := r.pair(r.listen(&ListenConfig{Config: patient}), &Dialer{Config: patient})
	ctx := testContext(t)
	if err := client.Disconnect(ctx); err != nil {
		t.Fatal(err)
	}
	wants(t, client.Err(), ErrPeerClosed)
	waitEnd(t, server)
	if err := server.Disconnect(ctx); err != nil {
		t.Errorf("disconnect of the other side: %v", err)
	}
	start := time.Now()
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > testTime/2 {
		t.Errorf("close took %v", d)
	}
}

// TestCloseWithSilentPeer is bounded by Config.CloseTimeout.
func TestCloseWithSilentPeer(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	r.cm.Mute(abi.RDMA_USER_CM_CMD_DISCONNECT)
	start := time.Now()
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < quick.CloseTimeout || d > testTime {
		t.Errorf("close took %v", d)
	}
	r.cm.Unmute()
	waitEnd(t, server)
}

func TestDeviceRemoval(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	mem := alloc(t, server, 64, RemoteWrite)
	if err := client.SendCopy(ctx, []byte("kept")); err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	recv := async(func() (*Message, error) { return client.Recv(ctx) })
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	r.verbs.Remove()
	_, err = get(t, recv)
	wants(t, err, ErrDeviceRemoved)
	for _, c := range []*Conn{client, server} {
		waitEnd(t, c)
		wants(t, c.Err(), ErrDeviceRemoved)
		wants(t, c.SendCopy(ctx, []byte("x")), ErrDeviceRemoved)
	}
	// The descriptors go without anybody's help, or kernels before 7.3 wait
	// for ever.
	for len(r.verbs.Survivors()) > 0 {
		time.Sleep(time.Millisecond)
		if ctx.Err() != nil {
			t.Fatalf("still there: %v", r.verbs.Survivors())
		}
	}
	// Memory stays mapped until Close.
	if string(m.Data) != "kept" || len(bytes.Trim(mem.Bytes(), "\x00")) != 0 {
		t.Errorf("memory: %q", m.Data)
	}
	if err := m.Release(); err != nil {
		t.Error(err)
	}
}

// TestLateDial: after a removal the device that comes back is opened anew,
// while old connections are still around.
func TestRetiredDevice(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	old, _ := r.pair(l, &Dialer{Config: quick})
	old.dev.retire()
	next, _ := r.pair(l, &Dialer{Config: quick})
	if next.dev == old.dev {
		t.Fatal("a retired device is used again")
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	third, _ := r.pair(l, &Dialer{Config: quick})
	if third.dev != next.dev {
		t.Error("closing the retired device hid its successor")
	}
}

// TestUnknownEvents pass through to NextEvent.
func TestUnknownEvents(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), new(Dialer))
	r.cm.InjectType(client.ID().handle, 4711, 7)
	ev, err := client.ID().NextEvent(testContext(t))
	if err != nil || ev.Type != 4711 || ev.Status != 7 {
		t.Errorf("got %+v, %v", ev, err)
	}
	if client.Err() != nil {
		t.Errorf("the connection ended: %v", client.Err())
	}
}

// TestUnreachableEvent: a neighbour that changed its MAC does not end an
// established connection.
func TestUnreachableEvent(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	r.cm.InjectType(client.ID().handle, abi.RDMA_CM_EVENT_UNREACHABLE, -110)
	ctx := testContext(t)
	if err := client.SendCopy(ctx, []byte("still here")); err != nil {
		t.Fatal(err)
	}
	if _, err := server.RecvCopy(ctx, make([]byte, 64)); err != nil || client.Err() != nil {
		t.Errorf("got %v, %v", err, client.Err())
	}
}
