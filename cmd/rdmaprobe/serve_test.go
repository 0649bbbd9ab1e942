package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cm"
)

// background is a server command that runs while the test goes on.
type background struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan result
	mu     sync.Mutex
	out    bytes.Buffer
}

func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.Write(p)
}

func (b *background) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.String()
}

// startCommand runs a command line until stop.
func (w *world) startCommand(t *testing.T, args ...string) *background {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	b := &background{t: t, cancel: cancel, done: make(chan result, 1)}
	go func() {
		var errOut bytes.Buffer
		code := runOn(ctx, w.system(), args, b, &errOut)
		b.done <- result{code, b.text(), errOut.String()}
	}()
	return b
}

// await waits until the output has a text.
func (b *background) await(text string) {
	b.t.Helper()
	for deadline := time.Now().Add(time.Minute); !strings.Contains(b.text(), text); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			b.t.Fatalf("no %q in\n%s", text, b.text())
		}
	}
}

// stop does what a signal does.
func (b *background) stop() result {
	b.cancel()
	return <-b.done
}

func TestServe(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	r := w.command(t, "ping", "10.0.0.1", "-C", "2", "--interval", "0", "-v")
	wantCode(t, r, exitOK)
	wantNarrow(t, r)
	golden(t, "testdata/ping.txt", r.both())
	server.await("ended")
	r = server.stop()
	wantCode(t, r, exitOK)
	golden(t, "testdata/serve.txt", r.both())
}

// TestServeOneAddress shows the device of the address only.
func TestServeOneAddress(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve", "-a", "10.0.0.1:99")
	server.await("ADDRESS")
	golden(t, "testdata/serve-address.txt", server.stop().both())
}

func TestServeJSON(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve", "--json", "-v")
	server.await("listening")
	wantCode(t, w.command(t, "ping", "10.0.0.1", "-C", "1", "-q"), exitOK)
	server.await("ended")
	// A client that is not one.
	c, err := w.dial(t.Context(), &cm.Dialer{LocalAddr: netip.AddrPort{}}, "10.0.0.1:7174")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Transport().Send(t.Context(), []byte("GET /")); err != nil {
		t.Fatal(err)
	}
	server.await("not rping's protocol")
	r := server.stop()
	wantCode(t, r, exitOK)
	var events []string
	for line := range strings.Lines(r.stdout) {
		validate(t, "serve", []byte(line))
		var d serveDoc
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatal(err)
		}
		events = append(events, d.Event)
	}
	want := []string{"listening", "connected", "ping", "ended", "connected", "ended", "stopped"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestServeStopsClients: a client does not keep the server from ending.
func TestServeStopsClients(t *testing.T) {
	w := rxeWorld()
	server := w.startCommand(t, "serve")
	server.await("ADDRESS")
	c, err := w.dial(t.Context(), &cm.Dialer{}, "10.0.0.1:7174")
	if err != nil {
		t.Fatal(err)
	}
	server.await("connected")
	r := server.stop()
	wantCode(t, r, exitOK)
	if !strings.Contains(r.stdout, "0 pings, 0 bytes; server stopped") {
		t.Errorf("output:\n%s", r.stdout)
	}
	select {
	case <-c.Done():
	default:
		t.Error("the client still has its connection")
	}
}
