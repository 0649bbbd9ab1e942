package cm

import (
	"context"
	"net"
	"testing"
)

// TestEndedContext: an operation whose context has ended already sends
// nothing, and the connection stays usable.
func TestEndedContext(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, server := r.pair(l, new(Dialer))
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	wants(t, client.SendCopy(ended, []byte("never")), context.Canceled)
	wants(t, client.Send(ended), context.Canceled)
	if err := client.SendCopy(testContext(t), []byte("sent")); err != nil {
		t.Fatal(err)
	}
	if text, err := recvText(testContext(t), server); err != nil || text != "sent" {
		t.Errorf("got %q, %v", text, err)
	}
}

// TestAcceptEndedContext: the request is over, and the peer is told at once.
func TestAcceptEndedContext(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	ctx := testContext(t)
	dialed := async(func() (*Conn, error) { return new(Dialer).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	_, err = req.Accept(ended, nil)
	wants(t, err, context.Canceled)
	_, err = req.Accept(ctx, nil)
	wants(t, err, net.ErrClosed)
	_, err = get(t, dialed)
	wants(t, err, ErrRejected)
}
