package cm

import (
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/uverbs"
)

// TestQueuePairOutlivesClose: a queue pair that the kernel does not give up may
// still write to the connection's buffers, so that nobody else gets them.
func TestQueuePairOutlivesClose(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	r.pair(l, new(Dialer)) // keeps the device open
	ctx := testContext(t)
	dialed := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	server, err := req.Accept(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := get(t, dialed)
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	waitEnd(t, client)
	r.verbs.FailCall(len(r.verbs.Calls()), syscall.EBUSY)
	wants(t, client.Close(), syscall.EBUSY)
	wants(t, client.Close(), syscall.EBUSY)

	buffers := client.recvs.buffers
	for _, off := range buffers.slab.free {
		if off == buffers.off {
			t.Error("the buffers may be lent again")
		}
	}
	// For the end of the test: what Close could not do.
	if err := client.qp.Close(); err != nil {
		t.Fatal(err)
	}
	if err := client.dev.slabs.put(buffers); err != nil {
		t.Fatal(err)
	}
}

// TestCompletionErrorSlot: the error of a failed request shows its slot, and
// not what tells connections apart.
func TestCompletionErrorSlot(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	far, err := server.Alloc(64, RemoteRead)
	if err != nil {
		t.Fatal(err)
	}
	near, err := client.Alloc(64, 0)
	if err != nil {
		t.Fatal(err)
	}
	bad := far.Remote()
	bad.RKey += 1 << 8
	err = client.Write(ctx, bad, near.All())
	var ce *uverbs.CompletionError
	if !errors.As(err, &ce) || ce.ID >= uint64(client.cfg.SendDepth) {
		t.Fatalf("got %v", err)
	}
	wantsText(t, err, "request 0x")
}
