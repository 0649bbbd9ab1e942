//go:build linux

package integration

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestConnAddresses connects over every kind of address (parity scenarios 12,
// 15, 37, 39).
func TestConnAddresses(t *testing.T) {
	requireRDMA(t)
	linkLocal := linkLocalOf(t, netdev)
	tests := []struct{ name, listen, dial string }{
		{"IPv4", addrV4 + ":0", addrV4},
		{"IPv6", "[" + addrV6 + "]:0", "[" + addrV6 + "]"},
		{"IPv6 link-local", "[" + linkLocal + "]:0", "[" + linkLocal + "]"},
		{"IPv4 wildcard", "0.0.0.0:0", addrV4},
		{"IPv6 wildcard, IPv6 dial", "[::]:0", "[" + addrV6 + "]"},
		{"IPv6 wildcard, IPv4 dial", "[::]:0", addrV4},
		{"no host", ":0", addrV4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checkLeaks(t)
			l := listenOn(t, tt.listen, nil)
			_, port, err := net.SplitHostPort(l.Addr().String())
			if err != nil || port == "0" {
				t.Fatalf("listener's address is %v", l.Addr())
			}
			client, server, req := connectTo(t, l, &cm.Dialer{}, nil, tt.dial+":"+port)
			if got, want := req.RemoteAddr().String(), client.LocalAddr().String(); got != want {
				t.Errorf("server sees peer %s, client is %s", got, want)
			}
			if got, want := client.RemoteAddr().String(), server.LocalAddr().String(); got != want {
				t.Errorf("client sees peer %s, server is %s", got, want)
			}
			exchange(t, client, server, 32)
		})
	}
}

// exchange sends a message of n bytes each way and compares.
func exchange(t *testing.T, a, b *cm.Conn, n int) {
	t.Helper()
	ctx := testContext(t)
	for i, dir := range []struct{ from, to *cm.Conn }{{a, b}, {b, a}} {
		want := make([]byte, n)
		pattern(want, i)
		if err := dir.from.SendCopy(ctx, want); err != nil {
			t.Fatal(err)
		}
		m, err := dir.to.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Data, want) {
			t.Fatalf("direction %d: received %d bytes that differ from the %d sent", i, len(m.Data), n)
		}
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
	}
}

func linkLocalOf(t *testing.T, name string) string {
	t.Helper()
	ifi, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatal(err)
	}
	addrs, err := ifi.Addrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		if n, ok := a.(*net.IPNet); ok && n.IP.IsLinkLocalUnicast() && n.IP.To4() == nil {
			return n.IP.String() + "%" + name
		}
	}
	t.Fatalf("%s has no IPv6 link-local address", name)
	return ""
}

// TestConnLinkLocalNeedsZone: the error names zones that could be meant.
func TestConnLinkLocalNeedsZone(t *testing.T) {
	requireRDMA(t)
	_, err := cm.Dial(testContext(t), "[fe80::1]:7471")
	if err == nil || !strings.Contains(err.Error(), "%"+netdev) {
		t.Fatalf("dial without zone: %v", err)
	}
}

// TestConnSizes sends messages around every limit, in order.
func TestConnSizes(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	client, server := pair(t)
	for _, n := range []int{0, 1, 63, 64, 65, 1023, 1024, 1025, 4095, 4096} {
		exchange(t, client, server, n)
	}
	if err := client.SendCopy(testContext(t), make([]byte, 4097)); err == nil {
		t.Error("a message longer than RecvSize was sent")
	}
	exchange(t, client, server, 8) // the refusal broke nothing
}

// TestConnGather sends and writes several slices at once, and an immediate.
func TestConnGather(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	client, server := pair(t)
	mem := allocRegion(t, client, 8192, 0)
	pattern(mem.Bytes(), 3)
	parts := []cm.Slice{mem.Slice(5, 100), mem.Slice(4000, 300), {}, mem.Slice(0, 1)}
	var want []byte
	for _, p := range parts {
		want = append(want, p.Bytes()...)
	}
	imm := uint32(0xdeadbeef)
	var err error
	if onIWARP() {
		wantUnsupported(t, "send with immediate", client.SendImm(ctx, imm, parts...))
		err, imm = client.Send(ctx, parts...), 0
	} else {
		err = client.SendImm(ctx, imm, parts...)
	}
	if err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if m.HasImm == onIWARP() || m.Imm != imm || !bytes.Equal(m.Data, want) {
		t.Fatalf("received %d bytes (imm %v %#x), want %d", len(m.Data), m.HasImm, m.Imm, len(want))
	}
	if err := m.Release(); err != nil {
		t.Fatal(err)
	}
	exposed := allocRegion(t, server, len(want), cm.RemoteWrite)
	if err := client.Write(ctx, exposed.Remote(), parts...); err != nil || !onIWARP() && !bytes.Equal(exposed.Bytes(), want) {
		t.Errorf("write of %d slices: %v", len(parts), err)
	}
	if err := client.SendCopy(ctx, []byte("written")); err != nil {
		t.Fatal(err)
	}
	if n, err := server.RecvCopy(ctx, make([]byte, 10)); n != 7 || err != nil || !bytes.Equal(exposed.Bytes(), want) {
		t.Errorf("%d bytes, %v; the region has %x, want %x", n, err, exposed.Bytes(), want)
	}
}

// TestConnOneSided writes, reads and runs atomics on the peer's memory (parity
// scenarios 9, 10).
func TestConnOneSided(t *testing.T) {
	requireRDMA(t)
	for _, size := range []int{1, 8, 1000, 4096, 100_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			checkLeaks(t)
			ctx := testContext(t)
			client, server := pair(t)
			exposed := allocRegion(t, server, size, cm.RemoteRead|cm.RemoteWrite)
			remote := throughMessage(t, server, client, exposed.Remote())
			local := allocRegion(t, client, 2*size, 0)
			out, in := local.Slice(0, size), local.Slice(size, size)

			pattern(out.Bytes(), 1)
			if err := client.Write(ctx, remote, out); err != nil {
				t.Fatal(err)
			}
			if err := client.Read(ctx, remote, in); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(in.Bytes(), out.Bytes()) || !bytes.Equal(exposed.Bytes(), out.Bytes()) {
				t.Fatal("memory differs after write and read")
			}

			pattern(out.Bytes(), 2)
			if onIWARP() {
				wantUnsupported(t, "write with immediate", client.WriteImm(ctx, remote, 42, out))
				exchange(t, client, server, 8) // the refusal broke nothing
				return
			}
			if err := client.WriteImm(ctx, remote, 42, out); err != nil {
				t.Fatal(err)
			}
			m, err := server.Recv(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !m.HasImm || m.Imm != 42 || m.Written != size || len(m.Data) != 0 {
				t.Fatalf("write with immediate arrived as %+v", m)
			}
			if !bytes.Equal(exposed.Bytes(), out.Bytes()) {
				t.Fatal("memory differs after write with immediate")
			}
			if err := m.Release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// throughMessage carries a descriptor over the wire.
func throughMessage(t *testing.T, from, to *cm.Conn, r cm.RemoteMemory) (got cm.RemoteMemory) {
	t.Helper()
	ctx := testContext(t)
	b, err := r.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := from.SendCopy(ctx, b); err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 64)
	n, err := to.RecvCopy(ctx, buf)
	if err != nil {
		t.Fatal(err)
	}
	if err := got.UnmarshalBinary(buf[:n]); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestConnAtomics(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	client, server := pair(t)
	access := cm.RemoteAtomic | cm.RemoteRead
	if onIWARP() {
		_, err := server.Alloc(8, access)
		wantUnsupported(t, "memory for atomics", err)
		access = cm.RemoteRead
	}
	exposed := allocRegion(t, server, 8, access)
	value := func() uint64 { return binary.NativeEndian.Uint64(exposed.Bytes()) }
	binary.NativeEndian.PutUint64(exposed.Bytes(), 40)
	mem := allocRegion(t, client, 8, 0)
	old := func() uint64 { return binary.NativeEndian.Uint64(mem.Bytes()) }

	if onIWARP() {
		wantUnsupported(t, "fetch and add", client.FetchAdd(ctx, exposed.Remote(), mem.All(), 2))
		wantUnsupported(t, "compare and swap", client.CompareSwap(ctx, exposed.Remote(), mem.All(), 1, 99))
		exchange(t, client, server, 8) // the refusals broke nothing
		return
	}
	if err := client.FetchAdd(ctx, exposed.Remote(), mem.All(), 2); err != nil {
		t.Fatal(err)
	}
	if old() != 40 || value() != 42 {
		t.Fatalf("fetch and add: old %d, value %d", old(), value())
	}
	if err := client.CompareSwap(ctx, exposed.Remote(), mem.All(), 1, 99); err != nil {
		t.Fatal(err)
	}
	if old() != 42 || value() != 42 {
		t.Fatalf("compare and swap without match: old %d, value %d", old(), value())
	}
	if err := client.CompareSwap(ctx, exposed.Remote(), mem.All(), 42, 99); err != nil {
		t.Fatal(err)
	}
	if old() != 42 || value() != 99 {
		t.Fatalf("compare and swap: old %d, value %d", old(), value())
	}
}

// TestConnRemoteAccessRefused: the peer's device checks rights, and the error
// says what happened.
func TestConnRemoteAccessRefused(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	client, server := pair(t)
	exposed := allocRegion(t, server, 64, cm.RemoteRead)
	mem := allocRegion(t, client, 64, 0)
	err := client.Write(ctx, exposed.Remote(), mem.All())
	if onIWARP() {
		// The write is done when TCP has it. The peer ends the connection.
		<-client.Done()
		if cause := client.Err(); err != nil && !errors.Is(err, cm.ErrPeerClosed) || !errors.Is(cause, cm.ErrPeerClosed) {
			t.Fatalf("write to memory that only allows reading: %v; the end: %v", err, cause)
		}
		return
	}
	want := abi.IB_WC_REM_ACCESS_ERR
	if !kernelAtLeast(t, 6, 1) {
		// rxe of 5.10 forgets to answer (do_complete returns early), and
		// the sender gives up after its retries.
		want = abi.IB_WC_RETRY_EXC_ERR
	}
	var ce *uverbs.CompletionError
	if !errors.As(err, &ce) || ce.Status != want {
		t.Fatalf("write to memory that only allows reading: %v", err)
	}
	if err := client.SendCopy(ctx, []byte("x")); err == nil {
		t.Fatal("the connection survived an access error")
	}
}

// TestConnRecvCopyShortBuffer: a message that does not fit stays.
func TestConnRecvCopyShortBuffer(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	client, server := pair(t)
	for _, s := range []string{"a message", "another"} {
		if err := client.SendCopy(ctx, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	n, err := server.RecvCopy(ctx, make([]byte, 3))
	if !errors.Is(err, io.ErrShortBuffer) || n != len("a message") {
		t.Fatalf("short buffer: %d, %v", n, err)
	}
	for _, want := range []string{"a message", "another"} {
		buf := make([]byte, 20)
		n, err := server.RecvCopy(ctx, buf)
		if err != nil || string(buf[:n]) != want {
			t.Fatalf("received %q, %v; want %q", buf[:n], err, want)
		}
	}
}

// TestConnManySenders: operations of many goroutines, more than the queue has
// room for, all arrive once.
func TestConnManySenders(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	const senders, each = 16, 20
	var receive cm.Config
	if onIWARP() || !kernelAtLeast(t, 6, 0) {
		// A message without a receive would end the connection there, and on
		// a busy machine the receiver may be that slow.
		receive.RecvDepth = senders * each
	}
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &receive})
	client, server, _ := connect(t, l, &cm.Dialer{Config: &cm.Config{SendDepth: 4}}, nil)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				var msg [8]byte
				binary.BigEndian.PutUint32(msg[:], uint32(s))
				binary.BigEndian.PutUint32(msg[4:], uint32(i))
				if err := client.SendCopy(ctx, msg[:]); err != nil {
					t.Errorf("sender %d: %v", s, err)
					return
				}
			}
		})
	}
	next := make([]uint32, senders)
	for range senders * each {
		m, err := server.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		s, i := binary.BigEndian.Uint32(m.Data), binary.BigEndian.Uint32(m.Data[4:])
		if int(s) >= senders || i != next[s] {
			t.Fatalf("message %d of sender %d, expected %d", i, s, next[s])
		}
		next[s]++
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
}

// TestConnPeerCloses: what was sent before the end is delivered, then the end
// is reported as such (parity scenarios 54, 55).
func TestConnPeerCloses(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	client, server := pair(t)
	for range 3 {
		if err := client.SendCopy(ctx, []byte("last words")); err != nil {
			t.Fatal(err)
		}
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		m, err := server.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := server.Recv(ctx); !errors.Is(err, cm.ErrPeerClosed) || !errors.Is(err, io.EOF) {
		t.Fatalf("receive after the end: %v", err)
	}
	if err := server.SendCopy(ctx, []byte("x")); !errors.Is(err, cm.ErrPeerClosed) {
		t.Fatalf("send after the end: %v", err)
	}
	if err := server.Err(); !errors.Is(err, cm.ErrPeerClosed) {
		t.Fatalf("Err is %v", err)
	}
	if err := client.SendCopy(ctx, []byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Fatalf("send on a closed connection: %v", err)
	}
}

// TestConnCloseWakesWaiters: Close from several goroutines at once, while
// others wait (parity scenario 56).
func TestConnCloseWakesWaiters(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ctx := testContext(t)
	client, server := pair(t)
	var wg sync.WaitGroup
	for _, c := range []*cm.Conn{client, server} {
		for range 2 {
			wg.Go(func() {
				if _, err := c.Recv(ctx); !errors.Is(err, net.ErrClosed) && !errors.Is(err, cm.ErrPeerClosed) {
					t.Errorf("waiting receive: %v", err)
				}
			})
		}
	}
	time.Sleep(50 * time.Millisecond) // lets the receivers wait; the test holds either way
	for _, c := range []*cm.Conn{client, client, server, server} {
		wg.Go(func() { closeConn(t, c) })
	}
	wg.Wait()
}

// TestConnCancel: a cancelled receive loses no message, and leaves the
// connection usable.
func TestConnCancel(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	client, server := pair(t)
	for range 5 {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err := server.Recv(ctx)
		cancel()
		var ne interface{ Timeout() bool }
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &ne) || !ne.Timeout() {
			t.Fatalf("receive with a deadline: %v", err)
		}
	}
	exchange(t, client, server, 100)
}

// TestConnDisconnect is the orderly end, confirmed by the peer.
func TestConnDisconnect(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	client, server := pair(t)
	if err := client.Disconnect(testContext(t)); err != nil {
		t.Fatal(err)
	}
	<-server.Done()
	<-client.Done()
}

// wantOverrun: on iWARP a message too many ends the connection; those that fitted
// arrive.
func wantOverrun(t *testing.T, client, server *cm.Conn, err error) {
	t.Helper()
	if err != nil && !errors.Is(err, cm.ErrPeerClosed) {
		t.Errorf("a message too many: %v", err)
	}
	<-client.Done()
	for i := range 4 {
		m, err := server.Recv(testContext(t))
		if err != nil || m.Data[0] != byte(i) {
			t.Fatalf("message %d: %v", i, err)
		}
		if err := m.Release(); err != nil {
			t.Error(err)
		}
	}
	if _, err := server.Recv(testContext(t)); !errors.Is(err, cm.ErrPeerClosed) {
		t.Errorf("receive after the end: %v", err)
	}
}

// TestConnSlowReceiver: the peer receives nothing for a while. Sends wait no
// longer than their context, Close is not held up, and what fitted arrives.
func TestConnSlowReceiver(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &cm.Config{RecvDepth: 4}})
	client, server, _ := connect(t, l, &cm.Dialer{Config: &cm.Config{CloseTimeout: testTime}}, nil)
	ctx := testContext(t)
	for i := range 4 {
		if err := client.SendCopy(ctx, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if onIWARP() {
		wantOverrun(t, client, server, client.SendCopy(ctx, []byte{4}))
		return
	}
	if !kernelAtLeast(t, 6, 0) {
		err := client.SendCopy(ctx, []byte{4})
		// This rxe would spin in the kernel; package cm bounds it, at the
		// price of the connection.
		var ce *uverbs.CompletionError
		if !errors.As(err, &ce) || ce.Status != abi.IB_WC_RNR_RETRY_EXC_ERR {
			t.Errorf("send without a receive buffer: %v", err)
		}
		return
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	if err := client.SendCopy(short, []byte{4}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("send without a receive buffer: %v", err)
	}
	for i := range 5 {
		m, err := server.Recv(testContext(t))
		if err != nil || m.Data[0] != byte(i) {
			t.Fatalf("message %d: %v", i, err)
		}
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
	}
	start := time.Now()
	closeConn(t, client)
	if d := time.Since(start); d > testTime/2 { // held up it takes all of CloseTimeout
		t.Errorf("Close took %v", d)
	}
}
