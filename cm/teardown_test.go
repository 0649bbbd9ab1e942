package cm

import (
	"syscall"
	"testing"
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
