package cm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

func TestDialAccept(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	var steps []string
	client, server := r.pair(l, &Dialer{PrivateData: []byte("hello"), OnStep: func(s Step) { steps = append(steps, s.Name) }})
	if diff := cmp.Diff([]string{stepResolveAddr, stepResolveRoute, stepQueuePair, stepConnect, stepEstablish}, steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if got := client.PrivateData(); len(got) != MaxAcceptData || !bytes.HasPrefix(got, []byte("welcome\x00")) {
		t.Errorf("client's private data: %q", got)
	}
	if got := server.PrivateData(); len(got) != MaxConnectData || !bytes.HasPrefix(got, []byte("hello\x00")) {
		t.Errorf("server's private data: %q", got)
	}
	if client.RemoteAddr().String() != serverAddr.String() || server.LocalAddr().String() != serverAddr.String() {
		t.Errorf("addresses: client to %v, server at %v", client.RemoteAddr(), server.LocalAddr())
	}
	if client.LocalAddr().String() != server.RemoteAddr().String() || client.LocalAddr().Network() != "rdma" {
		t.Errorf("client at %v, server sees %v", client.LocalAddr(), server.RemoteAddr())
	}
	if client.Device() != "rxe0" || client.QP().Number() == 0 || client.Err() != nil || client.ID() == nil {
		t.Errorf("device %q, queue pair %d, %v", client.Device(), client.QP().Number(), client.Err())
	}
}

func TestSendRecv(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	mem := alloc(t, client, 8192, 0)
	for i := range mem.Bytes() {
		mem.Bytes()[i] = byte(i)
	}
	for _, tc := range []struct {
		name string
		send func() error
		want []byte
		imm  uint32
	}{
		{"one slice", func() error { return client.Send(ctx, mem.Slice(1, 10)) }, mem.Bytes()[1:11], 0},
		{"three slices", func() error { return client.Send(ctx, mem.Slice(0, 3), Slice{}, mem.Slice(9, 1), mem.Slice(4000, 96)) },
			append([]byte{0, 1, 2, 9}, mem.Bytes()[4000:4096]...), 0},
		{"empty", func() error { return client.Send(ctx) }, nil, 0},
		{"immediate", func() error { return client.SendImm(ctx, 0xcafe0001, mem.Slice(7, 1)) }, []byte{7}, 0xcafe0001},
		{"short copy", func() error { return client.SendCopy(ctx, []byte("inline")) }, []byte("inline"), 0},
		{"long copy", func() error { return client.SendCopy(ctx, bytes.Repeat([]byte("x"), 4096)) }, bytes.Repeat([]byte("x"), 4096), 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := tc.send(); err != nil {
				t.Fatal(err)
			}
			m, err := server.Recv(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m.Data, tc.want) || m.Imm != tc.imm || m.HasImm != (tc.imm != 0) {
				t.Errorf("got %q, immediate %#x", m.Data, m.Imm)
			}
			for range 2 {
				if err := m.Release(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestManyMessages goes round the rings several times.
func TestManyMessages(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	echo := async(func() (int, error) {
		buf := make([]byte, 64)
		for i := range 500 {
			n, err := server.RecvCopy(ctx, buf)
			if err != nil {
				return i, err
			}
			if err := server.SendCopy(ctx, buf[:n]); err != nil {
				return i, err
			}
		}
		return 500, nil
	})
	buf := make([]byte, 64)
	for i := range 500 {
		want := bytes.Repeat([]byte{byte(i)}, i%64)
		if err := client.SendCopy(ctx, want); err != nil {
			t.Fatal(err)
		}
		n, err := client.RecvCopy(ctx, buf)
		if err != nil || !bytes.Equal(buf[:n], want) {
			t.Fatalf("message %d: %d bytes, %v", i, n, err)
		}
	}
	if n, err := get(t, echo); err != nil {
		t.Errorf("echo ended after %d: %v", n, err)
	}
}

func TestOneSided(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	far := alloc(t, server, 64, RemoteRead|RemoteWrite|RemoteAtomic)
	near := alloc(t, client, 64, 0)
	copy(near.Bytes(), "written")
	if err := client.Write(ctx, far.Remote(), near.Slice(0, 7)); err != nil || string(far.Bytes()[:7]) != "written" {
		t.Errorf("write: %q, %v", far.Bytes()[:7], err)
	}
	if err := client.Write(ctx, far.Remote(), near.Slice(3, 4), near.Slice(0, 2)); err != nil || string(far.Bytes()[:7]) != "ttenwrn" {
		t.Errorf("write of two slices: %q, %v", far.Bytes()[:7], err)
	}
	if err := client.WriteImm(ctx, far.Slice(8, 8).Remote(), 42, near.Slice(0, 4)); err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil || m.Imm != 42 || m.Written != 4 || len(m.Data) != 0 || string(far.Bytes()[8:12]) != "writ" {
		t.Fatalf("write with immediate: %+v, %v", m, err)
	}
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	copy(far.Bytes()[32:], "to be read")
	src, err := far.Remote().Slice(32, 10)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Read(ctx, src, near.Slice(32, 6), near.Slice(48, 4)); err != nil ||
		string(near.Bytes()[32:38]) != "to be " || string(near.Bytes()[48:52]) != "read" {
		t.Errorf("read: %q %q, %v", near.Bytes()[32:38], near.Bytes()[48:52], err)
	}
	word := far.Slice(16, 8)
	for i, want := range []uint64{0, 5} {
		if err := client.FetchAdd(ctx, word.Remote(), near.Slice(0, 8), 5); err != nil || hostWord(near) != want {
			t.Errorf("fetch and add %d: %d, %v", i, hostWord(near), err)
		}
	}
	if err := client.CompareSwap(ctx, word.Remote(), near.Slice(0, 8), 10, 77); err != nil || hostWord(near) != 10 {
		t.Errorf("compare and swap: %d, %v", hostWord(near), err)
	}
	if err := client.CompareSwap(ctx, word.Remote(), near.Slice(0, 8), 10, 78); err != nil || hostWord(near) != 77 {
		t.Errorf("compare and swap that fails: %d, %v", hostWord(near), err)
	}
}

func hostWord(r *Region) uint64 { return binary.NativeEndian.Uint64(r.Bytes()) }

// TestRefusedOperations: what the caller got wrong is said before the device
// breaks the connection over it.
func TestRefusedOperations(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, server := r.pair(l, new(Dialer))
	ctx := testContext(t)
	mem := alloc(t, client, 64, 0)
	remote := RemoteMemory{Addr: 4096, Len: 8}
	five := []Slice{mem.Slice(0, 1), mem.Slice(1, 1), mem.Slice(2, 1), mem.Slice(3, 1), mem.Slice(4, 1)}
	closed := alloc(t, client, 64, 0)
	if err := errors.Join(closed.Close(), closed.Close()); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name string
		err  error
		want error
	}{
		{"too much for the remote memory", client.Write(ctx, remote, mem.All()), syscall.EMSGSIZE},
		{"too many slices", client.Send(ctx, five...), uverbs.ErrTooManySGEs},
		{"atomic of 4 bytes", client.FetchAdd(ctx, remote, mem.Slice(0, 4), 1), syscall.EINVAL},
		{"atomic at an odd address", client.FetchAdd(ctx, RemoteMemory{Addr: 4097, Len: 8}, mem.Slice(0, 8), 1), syscall.EINVAL},
		{"copy that is too long", client.SendCopy(ctx, make([]byte, 4097)), syscall.EMSGSIZE},
		{"no bytes", second(client.Alloc(0, 0)), syscall.EINVAL},
		{"closed region", client.Send(ctx, closed.All()), net.ErrClosed},
	} {
		var oe *OpError
		if !errors.Is(tc.err, tc.want) || !errors.As(tc.err, &oe) || oe.Remote == nil || oe.Device != "rxe0" {
			t.Errorf("%s: %v", tc.name, tc.err)
		}
	}
	// The connection still works, and every slot is free.
	for range 40 {
		if err := client.SendCopy(ctx, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := server.RecvCopy(ctx, make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestRecvCopyShortBuffer(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	for _, s := range []string{"first", "second"} {
		if err := client.SendCopy(ctx, []byte(s)); err != nil {
			t.Fatal(err)
		}
	}
	buf := make([]byte, 16)
	if n, err := server.RecvCopy(ctx, buf[:4]); n != 5 || !errors.Is(err, io.ErrShortBuffer) {
		t.Errorf("got %d, %v", n, err)
	}
	for _, want := range []string{"first", "second"} {
		if n, err := server.RecvCopy(ctx, buf); err != nil || string(buf[:n]) != want {
			t.Errorf("got %q, %v, want %q", buf[:n], err, want)
		}
	}
}

// TestRecvCopyPutsBack: a receive that waits gets the message that another one
// had no room for.
func TestRecvCopyPutsBack(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx := testContext(t)
	for range 20 {
		var results []<-chan result[string]
		for range 2 {
			results = append(results, async(func() (string, error) {
				m, err := server.Recv(ctx)
				if err != nil {
					return "", err
				}
				s := string(m.Data)
				return s, m.Release()
			}))
		}
		short := async(func() (int, error) { return server.RecvCopy(ctx, make([]byte, 1)) })
		for _, s := range []string{"one", "two"} {
			if err := client.SendCopy(ctx, []byte(s)); err != nil {
				t.Fatal(err)
			}
		}
		got := map[string]bool{}
		for _, c := range results {
			s, err := get(t, c)
			if err != nil {
				t.Fatal(err)
			}
			got[s] = true
		}
		if !got["one"] || !got["two"] {
			t.Fatalf("got %v", got)
		}
		// The short one is served or not, depending on whose turn it was.
		if err := client.SendCopy(ctx, []byte("x")); err != nil {
			t.Fatal(err)
		}
		if _, err := get(t, short); errors.Is(err, io.ErrShortBuffer) {
			if _, err := server.RecvCopy(ctx, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// writeElsewhere is a connection whose client wrote to memory that the server
// does not have, with what the device said of it.
func writeElsewhere(t *testing.T) (client *Conn, failed *uverbs.CompletionError, err error) {
	t.Helper()
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	far := alloc(t, server, 64, RemoteRead)
	near := alloc(t, client, 64, 0)
	bad := far.Remote()
	bad.RKey += 1 << 8
	err = client.Write(testContext(t), bad, near.Slice(0, 8))
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want a completion error", err)
	}
	return client, failed, err
}

// TestRemoteAccessError: the device's verdict ends both the operation and the
// connection, with its cause.
func TestRemoteAccessError(t *testing.T) {
	client, ce, err := writeElsewhere(t)
	if ce.Status != abi.IB_WC_REM_ACCESS_ERR {
		t.Errorf("got %v", err)
	}
	waitEnd(t, client)
	if !errors.As(client.Err(), &ce) {
		t.Errorf("Err is %v", client.Err())
	}
	if err := client.SendCopy(testContext(t), []byte("x")); !errors.As(err, &ce) {
		t.Errorf("later send: %v", err)
	}
}

// TestCompletionErrorSlot: the error of a failed request shows its slot, and
// not what tells connections apart.
func TestCompletionErrorSlot(t *testing.T) {
	client, ce, err := writeElsewhere(t)
	if ce.ID >= uint64(client.cfg.SendDepth) {
		t.Errorf("got %v", err)
	}
	wantsText(t, err, "request 0x")
}

func TestRecvContext(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), new(Dialer))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := server.Recv(ctx)
	var oe *OpError
	if !errors.As(err, &oe) || !oe.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if err := client.SendCopy(testContext(t), []byte("late")); err != nil {
		t.Fatal(err)
	}
	if text, err := recvText(testContext(t), server); err != nil || text != "late" {
		t.Errorf("receive after a cancelled one: %v", err)
	}
}

func TestAcceptOptionsConfig(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Config: &Config{RecvSize: 100}})
	ctx := testContext(t)
	dialed := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if p := req.Param(); p.RetryCount != 6 || p.RNRRetryCount != 7 || p.QPNum == 0 || req.ID() == nil {
		t.Errorf("parameters %+v", p)
	}
	// Mistakes do not use the request up.
	_, err = req.Accept(ctx, &AcceptOptions{Config: &Config{RecvSize: -1}})
	wants(t, err, syscall.EINVAL)
	_, err = req.Accept(ctx, &AcceptOptions{PrivateData: make([]byte, MaxAcceptData+1)})
	wants(t, err, syscall.EINVAL)
	wants(t, req.Reject(make([]byte, MaxRejectData+1)), syscall.EINVAL)
	var steps []string
	server, err := req.Accept(ctx, &AcceptOptions{Config: quick, OnStep: func(s Step) { steps = append(steps, s.Name) }})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if got := strings.Join(steps, ", "); got != "set up queue pair, accept, establish" {
		t.Errorf("steps: %s", got)
	}
	client, err := get(t, dialed)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	_, err = req.Accept(ctx, nil)
	wants(t, err, net.ErrClosed)
	wants(t, req.Reject(nil), net.ErrClosed)
	if err := req.Close(); err != nil {
		t.Errorf("close of an answered request: %v", err)
	}
	if server.Err() != nil {
		t.Errorf("answering twice ended the connection: %v", server.Err())
	}
}
