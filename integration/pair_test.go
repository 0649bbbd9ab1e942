//go:build linux

package integration

import (
	"context"
	"testing"

	"github.com/purerdma/rdma/cm"
)

func testContext(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	t.Cleanup(cancel)
	return ctx
}

// listenOn listens and closes with the test.
func listenOn(t *testing.T, address string, cfg *cm.ListenConfig) *cm.Listener {
	t.Helper()
	l, err := cm.Listen(testContext(t), address, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close listener: %v", err)
		}
	})
	return l
}

// accepted is what a goroutine that accepts one connection found.
type accepted struct {
	conn *cm.Conn
	req  *cm.Request
	err  error
}

// acceptOne accepts the next request in a goroutine.
func acceptOne(ctx context.Context, l *cm.Listener, opts *cm.AcceptOptions) <-chan accepted {
	ch := make(chan accepted, 1)
	go func() {
		r, err := l.Accept(ctx)
		if err != nil {
			ch <- accepted{err: err}
			return
		}
		c, err := r.Accept(ctx, opts)
		ch <- accepted{conn: c, req: r, err: err}
	}()
	return ch
}

// connect makes a connected pair through a listener. Both ends close with the
// test.
func connect(t *testing.T, l *cm.Listener, d *cm.Dialer, opts *cm.AcceptOptions) (client, server *cm.Conn, req *cm.Request) {
	t.Helper()
	return connectTo(t, l, d, opts, l.Addr().String())
}

func connectTo(t *testing.T, l *cm.Listener, d *cm.Dialer, opts *cm.AcceptOptions, address string) (client, server *cm.Conn, req *cm.Request) {
	t.Helper()
	ctx := testContext(t)
	ch := acceptOne(ctx, l, opts)
	client, err := d.Dial(ctx, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closeConn(t, client) })
	a := <-ch
	if a.err != nil {
		t.Fatal(a.err)
	}
	t.Cleanup(func() { closeConn(t, a.conn) })
	return client, a.conn, a.req
}

// pair is connect with everything default on the guest's IPv4 address.
func pair(t *testing.T) (client, server *cm.Conn) {
	t.Helper()
	client, server, _ = connect(t, listenOn(t, addrV4+":0", nil), &cm.Dialer{}, nil)
	return client, server
}

func closeConn(t *testing.T, c *cm.Conn) {
	if err := c.Close(); err != nil {
		t.Errorf("close connection: %v", err)
	}
}

// pattern fills p with bytes that depend on seed and position.
func pattern(p []byte, seed int) {
	for i := range p {
		p[i] = byte(i*7 + i>>8 + seed*31 + 1)
	}
}

// allocRegion makes a region of a connection or a PD that is closed with the test.
func allocRegion(t *testing.T, a interface {
	Alloc(n int, access cm.Access) (*cm.Region, error)
}, n int, access cm.Access) *cm.Region {
	t.Helper()
	r, err := a.Alloc(n, access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Errorf("close region: %v", err)
		}
	})
	return r
}
