package rping_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping/rpingtest"
)

// served is what Serve returned.
type served struct {
	stats rping.Stats
	err   error
}

// startServer serves one end until the test ends it.
func startServer(t *testing.T, e *rpingtest.End, opts *rping.ServeOptions) <-chan served {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	done := make(chan served, 1)
	go func() {
		stats, err := rping.Serve(ctx, e, opts)
		e.HangUp()
		done <- served{stats, err}
	}()
	return done
}

func TestPings(t *testing.T) {
	for _, size := range []int{0, rping.MinSize, 1000, rping.MaxSize} {
		client, server := rpingtest.Pipe()
		done := startServer(t, server, nil)
		c, err := rping.NewClient(client, size)
		if err != nil {
			t.Fatal(err)
		}
		const count = 70 // the first letter wraps at 58
		want := make([]byte, size)
		if size == 0 {
			want = make([]byte, rping.DefaultSize)
		}
		for i := range uint64(count) {
			pong, err := c.Ping(t.Context())
			if err != nil {
				t.Fatalf("size %d: %v", size, err)
			}
			rping.Fill(want, i)
			if pong.Seq != i || string(pong.Data) != string(want) {
				t.Fatalf("size %d: ping %d brought seq %d, %q", size, i, pong.Seq, rping.Text(pong.Data))
			}
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
		client.HangUp()
		got := <-done
		if diff := cmp.Diff(rping.Stats{Pings: count, Bytes: uint64(count * len(want))}, got.stats); diff != "" || got.err != nil {
			t.Errorf("size %d: server: %v (-want +got):\n%s", size, got.err, diff)
		}
		if n := server.Live(); n != 0 {
			t.Errorf("size %d: %d pieces of memory left", size, n)
		}
	}
}

func TestOnPing(t *testing.T) {
	client, server := rpingtest.Pipe()
	var seen []string
	done := startServer(t, server, &rping.ServeOptions{OnPing: func(seq uint64, data []byte) { seen = append(seen, rping.Text(data)) }})
	c, err := rping.NewClient(client, 32)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Ping(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	client.HangUp()
	<-done
	want := []string{"rdma-ping-0: ABCDEFGHIJKLMNOPQR", "rdma-ping-1: BCDEFGHIJKLMNOPQRS"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMismatch(t *testing.T) {
	client, server := rpingtest.Pipe()
	server.Corrupt = func(b []byte) { b[20]++; b[30]++ }
	startServer(t, server, nil)
	c, err := rping.NewClient(client, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Ping(t.Context())
	var m *rping.MismatchError
	if !errors.As(err, &m) || !errors.Is(err, rping.ErrMismatch) {
		t.Fatalf("error %v", err)
	}
	want := &rping.MismatchError{Seq: 0, Offset: 20, Differ: 2, Size: 64, Want: 'H', Got: 'I'}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	server.Corrupt = nil
	if _, err := c.Ping(t.Context()); err != nil {
		t.Errorf("after a mismatch: %v", err)
	}
}

// TestWrittenByNobody: data that the server has not written does not pass for the
// answer, also when an earlier ping left the same.
func TestWrittenByNobody(t *testing.T) {
	client, server := rpingtest.Pipe()
	done := startServer(t, server, nil)
	c, err := rping.NewClient(client, 64)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range uint64(2) {
		c.StartAt(7) // the same data twice
		if seq == 1 {
			server.Drop = true
		}
		_, err := c.Ping(t.Context())
		if wrong := errors.Is(err, rping.ErrMismatch); wrong != (seq == 1) {
			t.Errorf("ping %d: %v", seq, err)
		}
	}
	client.HangUp()
	<-done
}

// TestServerKeepsMemory: pings of one size take memory once, a larger one takes more.
func TestServerKeepsMemory(t *testing.T) {
	client, server := rpingtest.Pipe()
	done := startServer(t, server, nil)
	for i, size := range []int{100, 100, 50, 200, 200} {
		c, err := rping.NewClient(client, size)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := c.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		want := 1
		if i >= 3 {
			want = 2
		}
		if got := server.Allocs(); got != want {
			t.Errorf("after %d bytes the server has asked for memory %d times, want %d", size, got, want)
		}
	}
	client.HangUp()
	<-done
}

// TestStartAt: pings are numbered from there on.
func TestStartAt(t *testing.T) {
	client, server := rpingtest.Pipe()
	done := startServer(t, server, nil)
	c, err := rping.NewClient(client, 64)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]byte, 64)
	c.StartAt(41)
	for _, seq := range []uint64{41, 42} {
		pong, err := c.Ping(t.Context())
		rping.Fill(want, seq)
		if err != nil || pong.Seq != seq || string(pong.Data) != string(want) {
			t.Errorf("ping %d: number %d, %q, %v", seq, pong.Seq, rping.Text(pong.Data), err)
		}
	}
	client.HangUp()
	<-done
}

// leaving is a client's connection that is gone when the last message is sent.
type leaving struct {
	rping.Transport
	sends, last int
}

func (l *leaving) Send(ctx context.Context, p []byte) error {
	if l.sends++; l.sends == l.last {
		return io.EOF
	}
	return l.Transport.Send(ctx, p)
}

// TestLeavesWithItsAnswer: a client that disconnects as soon as its data is back has had
// a whole ping; one that does before has not.
func TestLeavesWithItsAnswer(t *testing.T) {
	for last, pings := range map[int]uint64{1: 0, 2: 1} {
		client, server := rpingtest.Pipe()
		c, err := rping.NewClient(client, 64)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		pinged := make(chan error, 1)
		go func() { _, err := c.Ping(ctx); pinged <- err }()
		stats, err := rping.Serve(t.Context(), &leaving{server, 0, last}, nil)
		if stats.Pings != pings || (err == nil) != (pings == 1) || err != nil && !errors.Is(err, io.EOF) {
			t.Errorf("gone at message %d: %+v, %v", last, stats, err)
		}
		cancel()
		<-pinged
	}
}

func TestSizeRefused(t *testing.T) {
	client, _ := rpingtest.Pipe()
	for _, size := range []int{-1, 1, rping.MinSize - 1, rping.MaxSize + 1} {
		if _, err := rping.NewClient(client, size); err == nil {
			t.Errorf("size %d accepted", size)
		}
	}
}

// TestBadClients are messages that the server must survive, and name.
func TestBadClients(t *testing.T) {
	ctx := t.Context()
	good := func(e *rpingtest.End) []byte {
		m, _ := e.Alloc(64, rping.PeerReads)
		b, _ := m.Info().AppendBinary(nil)
		return b
	}
	small := func(e *rpingtest.End) []byte {
		m, _ := e.Alloc(8, rping.PeerWrites)
		b, _ := m.Info().AppendBinary(nil)
		return b
	}
	for name, tc := range map[string]struct {
		talk func(e *rpingtest.End)
		want error
		step string
	}{
		"nothing": {func(e *rpingtest.End) {}, nil, ""},
		"short":   {func(e *rpingtest.End) { _ = e.Send(ctx, []byte("hello")) }, rping.ErrProtocol, "receive address of data"},
		"long":    {func(e *rpingtest.End) { _ = e.Send(ctx, make([]byte, 17)) }, rping.ErrProtocol, "receive address of data"},
		"zeros":   {func(e *rpingtest.End) { _ = e.Send(ctx, make([]byte, 16)) }, rping.ErrProtocol, "receive address of data"},
		"no memory": {func(e *rpingtest.End) {
			_ = e.Send(ctx, []byte("\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00\x00\x63\x00\x00\x00\x40"))
		}, rpingtest.ErrAccess, "read the client's data"},
		"leaves early": {func(e *rpingtest.End) { _ = e.Send(ctx, good(e)); _, _ = e.Recv(ctx, make([]byte, 16)) }, io.EOF, "receive address for the answer"},
		"small sink": {func(e *rpingtest.End) {
			_ = e.Send(ctx, good(e))
			_, _ = e.Recv(ctx, make([]byte, 16))
			_ = e.Send(ctx, small(e))
		},
			rping.ErrProtocol, "write the data back"},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := rpingtest.Pipe()
			done := startServer(t, server, nil)
			tc.talk(client)
			client.HangUp()
			got := <-done
			if tc.want == nil && got.err != nil || !errors.Is(got.err, tc.want) {
				t.Fatalf("error %v, want %v", got.err, tc.want)
			}
			var step *rping.StepError
			if errors.As(got.err, &step) && step.Step != tc.step {
				t.Errorf("step %q, want %q", step.Step, tc.step)
			}
			if got.stats != (rping.Stats{}) {
				t.Errorf("counted %+v", got.stats)
			}
		})
	}
}

func TestBadServer(t *testing.T) {
	for name, n := range map[string]int{"short": 3, "empty": 0, "long": 40} {
		t.Run(name, func(t *testing.T) {
			client, server := rpingtest.Pipe()
			c, err := rping.NewClient(client, 0)
			if err != nil {
				t.Fatal(err)
			}
			if err := server.Send(t.Context(), make([]byte, n)); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Ping(t.Context()); !errors.Is(err, rping.ErrProtocol) {
				t.Errorf("error %v, want rping.ErrProtocol", err)
			}
		})
	}
}

// TestForger: a server that writes the same to both buffers, instead of sending back what
// it read, is found out, also where the device lets it reach both.
func TestForger(t *testing.T) {
	for _, careless := range []bool{false, true} {
		client, server := rpingtest.Pipe()
		server.Careless = careless
		c, err := rping.NewClient(client, 0)
		if err != nil {
			t.Fatal(err)
		}
		forged, err := server.Alloc(rping.DefaultSize, rping.Private)
		if err != nil {
			t.Fatal(err)
		}
		copy(forged.Bytes(), "all is well")
		reached := make(chan int, 1)
		go func() {
			n := 0
			var infos [2]rping.Info
			for i := range infos {
				b := make([]byte, rping.InfoSize)
				_, _ = server.Recv(t.Context(), b)
				_ = infos[i].UnmarshalBinary(b)
				if i == 1 {
					for _, info := range infos {
						if server.Write(t.Context(), info, forged, rping.DefaultSize) == nil {
							n++
						}
					}
				}
				_ = server.Send(t.Context(), make([]byte, rping.InfoSize))
			}
			reached <- n
		}()
		_, err = c.Ping(t.Context())
		if !errors.Is(err, rping.ErrMismatch) {
			t.Errorf("careless %v: error %v", careless, err)
		}
		want := 1
		if careless {
			want = 2
		}
		if n := <-reached; n != want {
			t.Errorf("careless %v: %d buffers were written", careless, n)
		}
		_ = c.Close()
	}
}

func TestIdle(t *testing.T) {
	_, server := rpingtest.Pipe()
	_, err := rping.Serve(t.Context(), server, &rping.ServeOptions{Idle: time.Millisecond})
	if !errors.Is(err, rping.ErrIdle) {
		t.Errorf("error %v, want rping.ErrIdle", err)
	}
}

// TestFirst: a client that never pings has less time than one that has, whose next ping
// may be far away.
func TestFirst(t *testing.T) {
	opts := &rping.ServeOptions{Idle: time.Hour, First: time.Second}
	synctest.Test(t, func(t *testing.T) {
		_, server := rpingtest.Pipe()
		start := time.Now()
		_, err := rping.Serve(t.Context(), server, opts)
		if took := time.Since(start); !errors.Is(err, rping.ErrIdle) || took != time.Second {
			t.Errorf("a silent client: %v after %v", err, took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		client, server := rpingtest.Pipe()
		done := startServer(t, server, opts)
		c, err := rping.NewClient(client, 0)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := c.Ping(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(10 * time.Second)
		}
		client.HangUp()
		if got := <-done; got.err != nil || got.stats.Pings != 2 {
			t.Errorf("a slow client: %+v", got)
		}
	})
}

// stalled is a connection on which one kind of operation never ends, as with a
// peer that posts no receives or is gone without a word.
type stalled struct {
	rping.Transport
	op string
}

func (s stalled) hang(ctx context.Context, op string, do func() error) error {
	if s.op == op {
		<-ctx.Done()
		return ctx.Err()
	}
	return do()
}

func (s stalled) Send(ctx context.Context, p []byte) error {
	return s.hang(ctx, "send", func() error { return s.Transport.Send(ctx, p) })
}

func (s stalled) Read(ctx context.Context, dst rping.Memory, src rping.Info) error {
	return s.hang(ctx, "read", func() error { return s.Transport.Read(ctx, dst, src) })
}

func (s stalled) Write(ctx context.Context, dst rping.Info, src rping.Memory, n int) error {
	return s.hang(ctx, "write", func() error { return s.Transport.Write(ctx, dst, src, n) })
}

// TestStalledClient: a client cannot hold the server by taking nothing.
func TestStalledClient(t *testing.T) {
	for _, op := range []string{"send", "read", "write"} {
		client, server := rpingtest.Pipe()
		ctx, cancel := context.WithCancel(t.Context())
		c, err := rping.NewClient(client, 0)
		if err != nil {
			t.Fatal(err)
		}
		pinged := make(chan error, 1)
		go func() {
			_, err := c.Ping(ctx)
			pinged <- err
		}()
		_, err = rping.Serve(t.Context(), stalled{server, op}, &rping.ServeOptions{Idle: 20 * time.Millisecond})
		if !errors.Is(err, rping.ErrIdle) {
			t.Errorf("stalled %s: error %v, want rping.ErrIdle", op, err)
		}
		cancel()
		<-pinged
		_ = c.Close()
		if n := client.Live(); n != 0 {
			t.Errorf("stalled %s: %d pieces of memory left", op, n)
		}
	}
}

func TestCancel(t *testing.T) {
	_, server := rpingtest.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := rping.Serve(ctx, server, &rping.ServeOptions{Idle: time.Hour}); !errors.Is(err, context.Canceled) {
		t.Errorf("server: %v", err)
	}
	client, _ := rpingtest.Pipe()
	c, err := rping.NewClient(client, 0)
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
		client, server := rpingtest.Pipe()
		server.FailAt = n
		done := startServer(t, server, nil)
		c, err := rping.NewClient(client, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, pingErr := c.Ping(t.Context())
		_ = c.Close()
		client.HangUp()
		got := <-done
		if live := server.Live(); live != 0 {
			t.Errorf("server failure %d: %d pieces of memory left", n, live)
		}
		if got.err == nil {
			if pingErr != nil {
				t.Errorf("server is fine, client has %v", pingErr)
			}
			break
		}
		if !errors.Is(got.err, rpingtest.ErrFail) {
			t.Errorf("server failure %d: %v", n, got.err)
		}
	}
	for n := 1; ; n++ {
		client, server := rpingtest.Pipe()
		client.FailAt = n
		done := startServer(t, server, nil)
		c, err := rping.NewClient(client, 0)
		if err == nil {
			_, err = c.Ping(t.Context())
			_ = c.Close()
		}
		client.HangUp()
		if err == nil {
			break
		}
		<-done
		if live := client.Live(); live != 0 {
			t.Errorf("client failure %d: %d pieces of memory left", n, live)
		}
		if !errors.Is(err, rpingtest.ErrFail) {
			t.Errorf("client failure %d: %v", n, err)
		}
	}
}
