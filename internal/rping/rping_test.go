package rping

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// served is what Serve returned.
type served struct {
	stats Stats
	err   error
}

// startServer serves one end until the test ends it.
func startServer(t *testing.T, e *end, opts *ServeOptions) <-chan served {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	t.Cleanup(cancel)
	done := make(chan served, 1)
	go func() {
		stats, err := Serve(ctx, e, opts)
		e.hangUp()
		done <- served{stats, err}
	}()
	return done
}

func TestPings(t *testing.T) {
	for _, size := range []int{0, MinSize, 1000, MaxSize} {
		client, server := pipe()
		done := startServer(t, server, nil)
		c, err := NewClient(client, size)
		if err != nil {
			t.Fatal(err)
		}
		const count = 70 // the first letter wraps at 58
		want := make([]byte, len(c.start.Bytes()))
		for i := range uint64(count) {
			pong, err := c.Ping(t.Context())
			if err != nil {
				t.Fatalf("size %d: %v", size, err)
			}
			Fill(want, i)
			if pong.Seq != i || string(pong.Data) != string(want) {
				t.Fatalf("size %d: ping %d brought seq %d, %q", size, i, pong.Seq, Text(pong.Data))
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		client.hangUp()
		got := <-done
		if diff := cmp.Diff(Stats{Pings: count, Bytes: uint64(count * len(want))}, got.stats); diff != "" || got.err != nil {
			t.Errorf("size %d: server: %v (-want +got):\n%s", size, got.err, diff)
		}
		if n := server.f.live(); n != 0 {
			t.Errorf("size %d: %d pieces of memory left", size, n)
		}
	}
}

func TestOnPing(t *testing.T) {
	client, server := pipe()
	var seen []string
	done := startServer(t, server, &ServeOptions{OnPing: func(seq uint64, data []byte) { seen = append(seen, Text(data)) }})
	c, err := NewClient(client, 32)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	client.hangUp()
	<-done
	want := []string{"rdma-ping-0: ABCDEFGHIJKLMNOPQR", "rdma-ping-1: BCDEFGHIJKLMNOPQRS"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMismatch(t *testing.T) {
	client, server := pipe()
	server.corrupt = func(b []byte) { b[20]++; b[30]++ }
	startServer(t, server, nil)
	c, err := NewClient(client, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Ping(t.Context())
	var m *MismatchError
	if !errors.As(err, &m) || !errors.Is(err, ErrMismatch) {
		t.Fatalf("error %v", err)
	}
	want := &MismatchError{Seq: 0, Offset: 20, Differ: 2, Size: 64, Want: 'H', Got: 'I'}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	server.corrupt = nil
	if _, err := c.Ping(t.Context()); err != nil {
		t.Errorf("after a mismatch: %v", err)
	}
}

func TestSizeRefused(t *testing.T) {
	client, _ := pipe()
	for _, size := range []int{-1, 1, MinSize - 1, MaxSize + 1} {
		if _, err := NewClient(client, size); err == nil {
			t.Errorf("size %d accepted", size)
		}
	}
}

// TestBadClients are messages that the server must survive, and name.
func TestBadClients(t *testing.T) {
	ctx := t.Context()
	good := func(e *end) []byte {
		m, _ := e.Alloc(64, true)
		b, _ := m.Info().AppendBinary(nil)
		return b
	}
	small := func(e *end) []byte {
		m, _ := e.Alloc(8, true)
		b, _ := m.Info().AppendBinary(nil)
		return b
	}
	for name, tc := range map[string]struct {
		talk func(e *end)
		want error
		step string
	}{
		"nothing": {func(e *end) {}, nil, ""},
		"short":   {func(e *end) { _ = e.Send(ctx, []byte("hello")) }, ErrProtocol, "receive address of data"},
		"long":    {func(e *end) { _ = e.Send(ctx, make([]byte, 17)) }, ErrProtocol, "receive address of data"},
		"zeros":   {func(e *end) { _ = e.Send(ctx, make([]byte, 16)) }, ErrProtocol, "receive address of data"},
		"no memory": {func(e *end) {
			_ = e.Send(ctx, []byte("\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x63\x00\x00\x00\x40"))
		}, errAccess, "read the client's data"},
		"leaves early": {func(e *end) { _ = e.Send(ctx, good(e)); _, _ = e.Recv(ctx, make([]byte, 16)) }, io.EOF, "receive address for the answer"},
		"small sink": {func(e *end) {
			_ = e.Send(ctx, good(e))
			_, _ = e.Recv(ctx, make([]byte, 16))
			_ = e.Send(ctx, small(e))
		},
			ErrProtocol, "write the data back"},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := pipe()
			done := startServer(t, server, nil)
			tc.talk(client)
			client.hangUp()
			got := <-done
			if tc.want == nil && got.err != nil || !errors.Is(got.err, tc.want) {
				t.Fatalf("error %v, want %v", got.err, tc.want)
			}
			var step *StepError
			if errors.As(got.err, &step) && step.Step != tc.step {
				t.Errorf("step %q, want %q", step.Step, tc.step)
			}
			if got.stats != (Stats{}) {
				t.Errorf("counted %+v", got.stats)
			}
		})
	}
}

func TestBadServer(t *testing.T) {
	for name, n := range map[string]int{"short": 3, "empty": 0, "long": 40} {
		t.Run(name, func(t *testing.T) {
			client, server := pipe()
			c, err := NewClient(client, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Send(t.Context(), make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Ping(t.Context()); !errors.Is(err, ErrProtocol) {
				t.Errorf("error %v, want ErrProtocol", err)
			}
		})
	}
}

func TestIdle(t *testing.T) {
	_, server := pipe()
	_, err := Serve(t.Context(), server, &ServeOptions{Idle: time.Millisecond})
	if !errors.Is(err, ErrIdle) {
		t.Errorf("error %v, want ErrIdle", err)
	}
}

func TestCancel(t *testing.T) {
	_, server := pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Serve(ctx, server, &ServeOptions{Idle: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("server: %v", err)
	}
	client, _ := pipe()
	c, err := NewClient(client, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Ping(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("client: %v", err)
	}
}

// TestEachFailure fails every operation of either side in turn: the error
// comes out, nobody hangs, no memory is left.
func TestEachFailure(t *testing.T) {
	for n := 1; ; n++ {
		client, server := pipe()
		server.failAt = n
		done := startServer(t, server, nil)
		c, err := NewClient(client, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, pingErr := c.Ping(t.Context())
		_ = c.Close()
		client.hangUp()
		got := <-done
		if live := server.f.live(); live != 0 {
			t.Errorf("server failure %d: %d pieces of memory left", n, live)
		}
		if got.err == nil {
			if pingErr != nil {
				t.Errorf("server is fine, client has %v", pingErr)
			}
			break
		}
		if !errors.Is(got.err, errFail) {
			t.Errorf("server failure %d: %v", n, got.err)
		}
	}
	for n := 1; ; n++ {
		client, server := pipe()
		client.failAt = n
		startServer(t, server, nil)
		c, err := NewClient(client, 0)
		if err == nil {
			_, err = c.Ping(t.Context())
			_ = c.Close()
		}
		client.hangUp()
		if err == nil {
			break
		}
		if !errors.Is(err, errFail) {
			t.Errorf("client failure %d: %v", n, err)
		}
	}
}
