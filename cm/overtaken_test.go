package cm

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
)

// TestAcceptOvertaken: a peer that connects, sends and closes at once may be
// heard of in another order. Its end proves the connection; what it sent is
// not lost with it.
func TestAcceptOvertaken(t *testing.T) {
	r := newRig(t)
	r.cm.Mute(abi.RDMA_USER_CM_CMD_ACCEPT) // the peer's confirmation never comes
	l := r.listen(nil)
	dialCtx, stop := context.WithCancel(testContext(t))
	defer stop()
	dialed := async(func() (*Conn, error) { return (&Dialer{Config: quick}).DialAddr(dialCtx, serverAddr) })
	req, err := l.Accept(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	handle := req.ID().handle
	accepting := async(func() (*Conn, error) { return req.Accept(testContext(t), &AcceptOptions{Config: quick}) })
	var got result[*Conn]
	for waiting := true; waiting; {
		// Events before the accept command reach nobody, so it is repeated.
		r.cm.InjectType(handle, abi.RDMA_CM_EVENT_DISCONNECTED, 0)
		select {
		case got = <-accepting:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	if got.err != nil {
		t.Fatal(got.err)
	}
	if _, err := got.v.Recv(testContext(t)); !errors.Is(err, ErrPeerClosed) {
		t.Errorf("receive: %v", err)
	}
	if err := got.v.Close(); err != nil {
		t.Error(err)
	}
	stop()
	if c, err := get(t, dialed); err == nil {
		_ = c.Close()
	}
}
