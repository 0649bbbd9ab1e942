//go:build linux

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/internal/kernelver"
	"github.com/purerdma/rdma/uverbs"
)

// TestConnDrain: a peer without a free receive keeps a send waiting until its context
// ends. The error says that it was posted; its memory can neither be sent again nor
// taken from the device until Drain says so, and the message arrives once.
func TestConnDrain(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	if onIWARP() {
		t.Skip("TCP takes what the peer's device has no receive for: no send waits (TestSIWSilentPeer)")
	}
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", &cm.ListenConfig{Config: &cm.Config{RecvDepth: 1}})
	client, server, _ := connect(t, l, &cm.Dialer{}, nil)
	mem := allocRegion(t, client, 64, 0)
	copy(mem.Bytes(), "onetwo")
	if err := client.Send(ctx, mem.Slice(0, 3)); err != nil {
		t.Fatal(err)
	}
	held, err := server.Recv(ctx) // not released: the one receive
	if err != nil {
		t.Fatal(err)
	}
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	var oe *cm.OpError
	err = client.Send(short, mem.Slice(3, 3))
	var gaveUp *uverbs.CompletionError
	if errors.As(err, &gaveUp) && gaveUp.Status == abi.IB_WC_RNR_RETRY_EXC_ERR && kernelver.Older(6, 0) {
		// soft-RoCE before 6.0 repeats at once, so that cm lets it give up (quirk.go).
		if !errors.As(err, &oe) || !oe.Posted {
			t.Errorf("a send that was repeated was not posted: %v", err)
		}
		if err := held.Release(); err != nil {
			t.Error(err)
		}
		return
	}
	if !errors.As(err, &oe) || !oe.Posted || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("a send that the peer has no receive for: %v", err)
	}
	if err := client.Send(ctx, mem.Slice(0, 4)); !errors.As(err, &oe) || oe.Posted || !errors.Is(err, syscall.EBUSY) {
		t.Errorf("its memory again: %v", err)
	}
	if err := mem.Close(); !errors.Is(err, syscall.EBUSY) {
		t.Errorf("the end of its region: %v", err)
	}
	if err := client.Err(); err != nil {
		t.Fatalf("the connection ended: %v", err)
	}
	short, cancel = context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	if err := client.Drain(short); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("drained although the peer has no receive: %v", err)
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	if err := client.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	copy(mem.Bytes(), "three")
	m, err := server.Recv(ctx)
	if err != nil || string(m.Data) != "two" {
		t.Fatalf("%v, %v", m, err)
	}
	if err := m.Release(); err != nil {
		t.Fatal(err)
	}
	if err := client.Send(ctx, mem.Slice(0, 5)); err != nil {
		t.Fatal(err)
	}
	if m, err = server.Recv(ctx); err != nil || string(m.Data) != "three" {
		t.Fatalf("%v, %v", m, err)
	}
	if err := m.Release(); err != nil {
		t.Fatal(err)
	}
	if err := mem.Close(); err != nil {
		t.Errorf("after Drain: %v", err)
	}
}

// TestPackedData takes JSON through both directions of a handshake, whose padding
// json.Unmarshal would refuse, and has none where none was sent.
func TestPackedData(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	pack := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		p, err := cm.PackData(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	read := func(who string, p []byte, want string) {
		t.Helper()
		text, err := cm.UnpackData(p)
		if err != nil {
			t.Fatalf("%s: %v", who, err)
		}
		var got struct{ Name string }
		if err := json.Unmarshal(text, &got); err != nil || got.Name != want {
			t.Errorf("%s: %q, %v", who, text, err)
		}
	}
	type hello struct{ Name string }
	l := listenOn(t, addrV4+":0", nil)
	client, server, _ := connect(t, l, &cm.Dialer{PrivateData: pack(hello{"client"})}, &cm.AcceptOptions{PrivateData: pack(hello{"server"})})
	read("server", server.PrivateData(), "client")
	read("client", client.PrivateData(), "server")

	client, server, _ = connect(t, l, &cm.Dialer{}, nil)
	for who, p := range map[string][]byte{"server": server.PrivateData(), "client": client.PrivateData()} {
		if got, err := cm.UnpackData(p); !errors.Is(err, cm.ErrNoData) {
			t.Errorf("%s: %v, %v from a peer that sent none", who, got, err)
		}
		var m cm.RemoteMemory
		if err := m.UnmarshalBinary(p); !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s: remote memory %+v from a peer that sent none: %v", who, m, err)
		}
	}
}
