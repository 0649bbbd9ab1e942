package cm

import (
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/uverbs"
)

// TestFirstSignEnds: whatever shows that a connection is of no more use ends it, by
// the name of the true cause, also when nobody waits for anything.
func TestFirstSignEnds(t *testing.T) {
	for _, tc := range []struct {
		name string
		fail func(r *rig, c *Conn)
		text string
	}{
		{"flushed receives", func(r *rig, c *Conn) { r.verbs.BreakQP(c.qp.Number()) }, "in the error state and its device did not say why"},
		{"QP_FATAL", func(r *rig, c *Conn) { r.verbs.RaiseQP(c.qp.Number(), abi.IB_EVENT_QP_FATAL) }, "QP_FATAL"},
		{"QP_REQ_ERR", func(r *rig, c *Conn) { r.verbs.RaiseQP(c.qp.Number(), abi.IB_EVENT_QP_REQ_ERR) }, "longer than Config.RecvSize (4096 bytes"},
		{"QP_ACCESS_ERR", func(r *rig, c *Conn) { r.verbs.RaiseQP(c.qp.Number(), abi.IB_EVENT_QP_ACCESS_ERR) }, "wrong or closed remote key"},
		{"event and flush", func(r *rig, c *Conn) {
			r.verbs.BreakQP(c.qp.Number())
			r.verbs.RaiseQP(c.qp.Number(), abi.IB_EVENT_QP_ACCESS_ERR)
		}, "QP_ACCESS_ERR"},
		{"CQ_ERR", func(r *rig, c *Conn) { r.verbs.RaiseCQ(c.cq.cq.Handle(), abi.IB_EVENT_CQ_ERR) }, "overflowed (CQ_ERR)"},
		{"port down", func(r *rig, _ *Conn) {
			r.verbs.SetPort(false)
			r.verbs.RaisePort(1, abi.IB_EVENT_PORT_ERR)
		}, "port 1 of rxe0 is down"},
		{"port down and flush", func(r *rig, c *Conn) {
			r.verbs.SetPort(false)
			r.verbs.BreakQP(c.qp.Number())
		}, "port 1 of rxe0 is down"},
		{"port down and local error", func(r *rig, c *Conn) {
			r.verbs.SetPort(false)
			r.verbs.CompleteRecv(c.qp.Number(), abi.IB_WC_LOC_PROT_ERR)
		}, "port 1 of rxe0 is down"},
		{"failed receive", func(r *rig, c *Conn) { r.verbs.CompleteRecv(c.qp.Number(), abi.IB_WC_LOC_QP_OP_ERR) }, "local QP operation error"},
	} {
		for _, waiting := range []bool{false, true} {
			t.Run(tc.name, func(t *testing.T) {
				r := newRig(t)
				client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
				ctx := testContext(t)
				var received <-chan result[*Message]
				if waiting {
					received = async(func() (*Message, error) { return server.Recv(ctx) })
				} else if err := client.SendCopy(ctx, []byte("nobody receives")); err != nil {
					t.Fatal(err)
				} else if m, err := server.Recv(ctx); err != nil || m.Release() != nil {
					t.Fatal(err)
				}
				tc.fail(r, server)
				waitEnd(t, server)
				wants(t, server.Err(), ErrConnLost)
				wantsText(t, server.Err(), tc.text)
				if errors.Is(server.Err(), net.ErrClosed) {
					t.Errorf("%v matches net.ErrClosed", server.Err())
				}
				if waiting {
					_, err := get(t, received)
					wants(t, err, server.Err())
				}
				_, err := server.Recv(ctx)
				wants(t, err, server.Err())
				wants(t, server.SendCopy(ctx, []byte("x")), server.Err())
			})
		}
	}
}

// TestPortFlaps: a port that is up again at once harms nobody, and is noticed the
// next time.
func TestPortFlaps(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	r.verbs.RaisePort(1, abi.IB_EVENT_PORT_ERR)
	r.verbs.RaisePort(1, abi.IB_EVENT_PORT_ACTIVE)
	for deadline := time.Now().Add(5 * time.Second); !server.suspected() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	waitFor(t, func() bool { return !server.suspected() })
	ctx := testContext(t)
	if err := errors.Join(client.Err(), server.Err(), client.SendCopy(ctx, []byte("x"))); err != nil {
		t.Fatal(err)
	}
	r.verbs.SetPort(false)
	r.verbs.RaisePort(1, abi.IB_EVENT_PORT_ERR)
	waitEnd(t, server)
	var pe *PortError
	if !errors.As(server.Err(), &pe) || pe.Port != 1 || pe.Device != "rxe0" {
		t.Errorf("got %v", server.Err())
	}
}

// TestEventExplains: the event that follows a failed request is the cause, of
// whatever ends with the connection, and the request stays in the chain.
func TestEventExplains(t *testing.T) {
	explainWithin = time.Hour // only the event ends it
	t.Cleanup(func() { explainWithin = 50 * time.Millisecond })
	for _, tc := range []struct {
		name  string
		event abi.RDMACMEventType
		want  []error
		text  []string
	}{
		{"peer closed", abi.RDMA_CM_EVENT_DISCONNECTED, []error{ErrPeerClosed, io.EOF}, []string{"closed by peer", "remote access error"}},
		{"device removed", abi.RDMA_CM_EVENT_DEVICE_REMOVAL, []error{ErrDeviceRemoved}, []string{"removed"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newRig(t)
			client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
			ctx := testContext(t)
			mem := alloc(t, client, 64, 0)
			received := async(func() (*Message, error) { return client.Recv(ctx) })
			wrote := async(func() (int, error) {
				return 0, client.Write(ctx, RemoteMemory{Addr: 4096, Len: 64, RKey: 0xdead00}, mem.All())
			})
			for !client.suspected() {
				time.Sleep(time.Millisecond)
				client.cq.pump(false)
			}
			sent := async(func() (int, error) { return 0, client.SendCopy(ctx, []byte("flushed")) })
			if !r.cm.InjectType(client.id.handle, tc.event, 0) {
				t.Fatal("no such ID")
			}
			_, recvErr := get(t, received)
			_, writeErr := get(t, wrote)
			_, sendErr := get(t, sent)
			for _, err := range []error{recvErr, writeErr, sendErr, client.Err()} {
				wants(t, err, append(tc.want, ErrConnLost)...)
				wantsText(t, err, tc.text...)
				var ce *uverbs.CompletionError
				if !errors.As(err, &ce) || ce.Status != abi.IB_WC_REM_ACCESS_ERR {
					t.Errorf("%v hides what failed first", err)
				}
			}
		})
	}
}

// TestRefusedMessage: a message that this side cannot take is no orderly end, also
// where the peer's disconnect is seen before the failed receive.
func TestRefusedMessage(t *testing.T) {
	for _, status := range []abi.IBWCStatus{abi.IB_WC_LOC_LEN_ERR, abi.IB_WC_LOC_QP_OP_ERR, abi.IB_WC_REM_INV_REQ_ERR, abi.IB_WC_LOC_PROT_ERR} {
		t.Run(status.String(), func(t *testing.T) {
			r := newRig(t)
			_, server := r.pair(r.listen(nil), &Dialer{Config: quick})
			r.verbs.CompleteRecv(server.qp.Number(), status)
			if !r.cm.InjectType(server.id.handle, abi.RDMA_CM_EVENT_DISCONNECTED, 0) {
				t.Fatal("no such ID")
			}
			_, err := server.Recv(testContext(t))
			wants(t, err, ErrConnLost)
			var ce *uverbs.CompletionError
			if errors.Is(err, io.EOF) || !errors.As(err, &ce) || ce.Status != status {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestFailedOperationHeedsContext: who waits for the explanation does so no longer
// than his context lets him.
func TestFailedOperationHeedsContext(t *testing.T) {
	explainWithin = time.Hour
	t.Cleanup(func() { explainWithin = 50 * time.Millisecond })
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	mem := alloc(t, client, 64, 0)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := client.Write(ctx, RemoteMemory{Addr: 4096, Len: 64, RKey: 0xdead00}, mem.All())
	var ce *uverbs.CompletionError
	if !errors.As(err, &ce) || ce.Status != abi.IB_WC_REM_ACCESS_ERR {
		t.Errorf("got %v", err)
	}
}

// TestDeadConnectionClosesAtOnce: Close of a connection that has failed tells the
// peer and does not wait for it.
func TestDeadConnectionClosesAtOnce(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, _ := r.pair(l, &Dialer{Config: &Config{CloseTimeout: time.Hour}})
	r.cm.Mute(abi.RDMA_USER_CM_CMD_DISCONNECT)
	r.verbs.BreakQP(client.qp.Number())
	waitEnd(t, client)
	before := r.cm.Calls()
	if _, err := get(t, async(func() (int, error) { return 0, client.Close() })); err != nil {
		t.Error(err)
	}
	if r.cm.Calls() < before+2 {
		t.Error("the peer was not told")
	}
	r.cm.Unmute()
}

// TestNoGoodbyeIntoDeadDevice: a disconnect that cannot leave is not sent. It would
// wait in the device, and hold up its removal.
func TestNoGoodbyeIntoDeadDevice(t *testing.T) {
	for name, end := range map[string]func(r *rig, c *Conn){
		"close":   func(_ *rig, c *Conn) { _ = c.Close() },
		"removal": func(r *rig, _ *Conn) { r.cm.RemoveDevice(fakecm.DefaultDevice.Index) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var goodbyes, destroyed, id atomic.Uint32
			r.cm.Before = func(c fakecm.Call) error {
				switch {
				case c.Op != "write" || c.ID != id.Load():
				case c.Cmd == abi.RDMA_USER_CM_CMD_DISCONNECT:
					goodbyes.Add(1)
				case c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID:
					destroyed.Add(1)
				}
				return nil
			}
			client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
			id.Store(client.id.handle)
			r.verbs.SetPort(false)
			r.verbs.RaisePort(1, abi.IB_EVENT_PORT_ERR)
			waitEnd(t, client)
			waitEnd(t, server)
			end(r, client)
			waitFor(t, func() bool { return destroyed.Load() > 0 })
			if n := goodbyes.Load(); n != 0 {
				t.Errorf("%d goodbyes", n)
			}
		})
	}
}

// TestContextRemoved: the device's context is gone and the connection manager says
// nothing, as before Linux 7.3 with its module loaded first.
func TestContextRemoved(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	var conns []*Conn
	for range 3 {
		client, server := r.pair(l, &Dialer{Config: quick})
		conns = append(conns, client, server)
	}
	received := async(func() (*Message, error) { return conns[0].Recv(testContext(t)) })
	r.verbs.Remove()
	_, err := get(t, received)
	wants(t, err, ErrDeviceRemoved, ErrConnLost)
	for _, c := range conns {
		waitEnd(t, c)
		wants(t, c.Err(), ErrDeviceRemoved)
	}
	// The device is given back although nobody closes anything.
	for deadline := time.Now().Add(testTime); len(r.verbs.Files()) > 0; {
		if time.Now().After(deadline) {
			t.Fatalf("open: %v", r.verbs.Files())
		}
		time.Sleep(time.Millisecond)
	}
}

// TestRemovalTellsAllFirst: no connection of a removed device is taken down before
// all of them know why.
func TestRemovalTellsAllFirst(t *testing.T) {
	r := newRig(t)
	var conns []*Conn
	var removing atomic.Bool
	destroyed := make(chan struct{}, 100)
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID && removing.Load() {
			for _, c := range conns {
				if !errors.Is(c.Err(), ErrDeviceRemoved) {
					t.Errorf("a connection goes while another does not know: %v", c.Err())
				}
			}
			destroyed <- struct{}{}
		}
		return nil
	}
	l := r.listen(nil)
	for range 8 {
		client, server := r.pair(l, &Dialer{Config: quick})
		conns = append(conns, client, server)
	}
	removing.Store(true)
	defer removing.Store(false)
	// One hears of it; the others' events are late.
	if !r.cm.InjectType(conns[0].id.handle, abi.RDMA_CM_EVENT_DEVICE_REMOVAL, 0) {
		t.Fatal("no such ID")
	}
	for range conns {
		select {
		case <-destroyed:
		case <-time.After(testTime):
			t.Fatal("not all were taken down")
		}
	}
}

// TestRefusedNotify: a REQ_NOTIFY_CQ that fails for a while delays the members of
// the shared queue, and ends none.
func TestRefusedNotify(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, server := r.pair(l, &Dialer{Config: quick})
	other, _ := r.pair(l, &Dialer{Config: quick})
	ctx := testContext(t)
	r.verbs.RefuseNotify(5, syscall.ENOMEM)
	for i := 0; r.verbs.NotifyRefusals() > 0 || i < 3; i++ {
		received := async(func() (*Message, error) { return server.Recv(ctx) })
		if err := client.SendCopy(ctx, []byte("x")); err != nil {
			t.Fatal(err)
		}
		m, err := get(t, received)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*Conn{client, server, other} {
		if c.Err() != nil {
			t.Error(c.Err())
		}
	}
}

// TestNotifyStaysRefused: a queue that cannot be armed at all ends its members.
func TestNotifyStaysRefused(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, _ := r.pair(l, &Dialer{Config: quick})
	r.verbs.RefuseNotify(1<<30, syscall.ENOMEM)
	_, err := get(t, async(func() (*Message, error) {
		for {
			if err := client.SendCopy(testContext(t), nil); err != nil {
				return nil, err
			}
			if _, err := client.Recv(testContext(t)); err != nil {
				return nil, err
			}
		}
	}))
	wants(t, err, syscall.ENOMEM, ErrConnLost)
	r.verbs.RefuseNotify(0, 0)
	next, _ := r.pair(l, &Dialer{Config: quick})
	if next.cq == client.cq {
		t.Error("a new connection joined the queue that failed")
	}
}

// TestEarlySign: COMM_EST says that the peer has the connection, as its first message
// does.
func TestEarlySign(t *testing.T) {
	r := newRig(t)
	_, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	select {
	case <-server.recvs.first:
		t.Fatal("it is known already")
	default:
	}
	for range 2 {
		r.verbs.RaiseQP(server.qp.Number(), abi.IB_EVENT_COMM_EST)
	}
	select {
	case <-server.recvs.first:
	case <-testContext(t).Done():
		t.Error("nobody has heard of it")
	}
	if server.Err() != nil || server.suspected() {
		t.Errorf("it is taken for a failure: %v", server.Err())
	}
}

// TestReleaseAfterDeath: a message of a connection whose end is not known yet can be
// released, and shows it.
func TestReleaseAfterDeath(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	if err := client.SendCopy(ctx, []byte("x")); err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	r.verbs.Remove()
	if err := m.Release(); err != nil {
		t.Error(err)
	}
	waitEnd(t, server)
	wants(t, server.Err(), ErrDeviceRemoved)
}
