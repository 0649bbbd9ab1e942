package cm

import (
	"errors"
	"syscall"
	"testing"
)

// TestQueuePairOutlivesClose: a queue pair that the kernel does not give up is
// reported each time, and keeps its protection domain alone.
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

	// For the end of the test: what Close could not do.
	if err := errors.Join(client.qp.Close(), client.pd.Close()); err != nil {
		t.Fatal(err)
	}
}
