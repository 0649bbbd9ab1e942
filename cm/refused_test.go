package cm

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// The double refuses what a device refuses, and does to both queue pairs what a
// device does then: the tests of this file are about what the double is for.

// TestRefusedRequestEndsBothQueuePairs: a request that the responder may not
// serve puts its queue pair into ERROR too and flushes what it has posted
// (rxe_resp.c, do_class_ac_error).
func TestRefusedRequestEndsBothQueuePairs(t *testing.T) {
	for name, descriptor := range map[string]func(far *Region) RemoteMemory{
		"no such key":      func(far *Region) RemoteMemory { return RemoteMemory{Addr: 4096, Len: 64, RKey: 0xdead00} },
		"no right":         func(far *Region) RemoteMemory { return far.Remote() },
		"beyond the end":   func(far *Region) RemoteMemory { m := far.Remote(); m.Addr += 8; return m },
		"the local key":    func(far *Region) RemoteMemory { m := far.Remote(); m.RKey = far.reg.mr.LKey(); return m },
		"of another class": func(far *Region) RemoteMemory { m := far.Remote(); m.RKey ^= 2; return m },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			client, server := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
			rights := RemoteWrite
			if name == "no right" {
				rights = RemoteRead
			}
			far, near := alloc(t, server, 64, rights), alloc(t, client, 64, 0)
			var refused *uverbs.CompletionError
			err := client.Write(testContext(t), descriptor(far), near.All())
			if !errors.As(err, &refused) || refused.Status != abi.IB_WC_REM_ACCESS_ERR {
				t.Errorf("the write ended with %v", err)
			}
			for _, c := range []*Conn{client, server} {
				if a := r.verbs.QPAttr(c.QP().Number()); a.QPState != uint8(abi.IB_QPS_ERR) {
					t.Errorf("a queue pair is in state %v", abi.IBQPState(a.QPState))
				}
			}
		})
	}
}

// TestPrivateQueues: with queues of their own, neither end wakes the other by its
// own completions, as two processes do not. Each message must therefore wake the
// receiver itself, many times over.
func TestPrivateQueues(t *testing.T) {
	r := newRig(t)
	own := *quick
	own.PrivateCQ = true
	client, server := r.pair(r.listen(&ListenConfig{Config: &own}), &Dialer{Config: &own})
	if client.cq == server.cq {
		t.Fatal("the ends share a completion queue")
	}
	ctx := testContext(t)
	echo := async(func() (int, error) {
		for n := range 100 {
			m, err := server.Recv(ctx)
			if err != nil {
				return n, err
			}
			data := append([]byte(nil), m.Data...)
			if err := m.Release(); err != nil {
				return n, err
			}
			if err := server.SendCopy(ctx, data); err != nil {
				return n, err
			}
		}
		return 100, nil
	})
	buf := make([]byte, 8)
	for i := range 100 {
		if err := client.SendCopy(ctx, []byte{byte(i)}); err != nil {
			t.Fatalf("send %d: %v", i, err)
		}
		if n, err := client.RecvCopy(ctx, buf); err != nil || n != 1 || buf[0] != byte(i) {
			t.Fatalf("answer %d: %v, %v", i, buf[:n], err)
		}
	}
	if n, err := get(t, echo); err != nil {
		t.Errorf("after %d messages: %v", n, err)
	}
}
