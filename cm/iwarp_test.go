package cm

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// newIWARPRig is newRig with a device that speaks iWARP to the connection manager.
// Its rings are those of soft-RoCE, and nothing moves in them.
func newIWARPRig(t *testing.T) *rig {
	r := newRig(t)
	r.cm.IWARP = true
	rxe := host.deviceByIndex
	host.devices = func() ([]*uverbs.Device, error) { return []*uverbs.Device{{Protocol: uverbs.ProtocolIWARP}}, nil }
	host.deviceByIndex = func(index int) (*uverbs.Device, error) {
		d, err := rxe(index)
		if err == nil {
			d.Name, d.Protocol = "siw0", uverbs.ProtocolIWARP
		}
		return d, err
	}
	return r
}

// TestIWARPHandshake: the answer establishes both ends, queue pairs are the kernel's
// to move, and private data keeps its length.
func TestIWARPHandshake(t *testing.T) {
	r := newIWARPRig(t)
	var moved atomic.Int32
	r.cm.After = func(c fakecm.Call) {
		if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_INIT_QP_ATTR {
			moved.Add(1)
		}
	}
	l := r.listen(nil)
	client, server := r.pair(l, &Dialer{PrivateData: []byte("hello")})
	if diff := cmp.Diff([]string{"welcome", "hello"}, []string{string(client.PrivateData()), string(server.PrivateData())}); diff != "" {
		t.Errorf("private data (-want +got):\n%s", diff)
	}
	if n := moved.Load(); n > 2 { // to INIT, once each
		t.Errorf("%d requests for attributes of queue pairs", n)
	}
	if err := client.ID().Establish(); err != nil {
		t.Errorf("establish: %v", err)
	}
	if n := client.ID().MaxPrivateData(OpConnect); n != 251 {
		t.Errorf("room for %d bytes of private data", n)
	}
	if err := client.Disconnect(testContext(t)); err != nil {
		t.Errorf("disconnect: %v", err)
	}
	waitEnd(t, server)
	wants(t, server.Err(), ErrPeerClosed)
}

func TestIWARPRefusals(t *testing.T) {
	r := newIWARPRig(t)
	_, err := (&Dialer{}).DialAddr(testContext(t), serverAddr)
	wants(t, err, ErrNoListener, ErrRejected, syscall.ECONNREFUSED)

	l, ctx := r.listen(nil), testContext(t)
	dialed := async(func() (*Conn, error) { return (&Dialer{}).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := req.Reject([]byte("full")); err != nil {
		t.Fatal(err)
	}
	_, err = get(t, dialed)
	wants(t, err, ErrRejected, syscall.ECONNRESET)
	var rej *RejectError
	if !errors.As(err, &rej) || rej.Text() != "full" || len(rej.PrivateData) != 4 || errors.Is(err, ErrNoListener) {
		t.Errorf("error %v", err)
	}
}

// TestIWARPWildcard: a listener on everything has an ID for each family.
func TestIWARPWildcard(t *testing.T) {
	newIWARPRig(t)
	l, err := ListenAddr(netip.MustParseAddrPort("[::]:7474"), nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	for _, to := range []string{"10.0.0.1:7474", "[fd00::1]:7474"} {
		dialed := async(func() (*Conn, error) { return (&Dialer{}).DialAddr(ctx, netip.MustParseAddrPort(to)) })
		req, err := l.Accept(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := req.Reject(nil); err != nil {
			t.Error(err)
		}
		_, err = get(t, dialed)
		wants(t, err, ErrRejected)
	}
	_, err = ListenAddr(netip.MustParseAddrPort("0.0.0.0:7474"), nil)
	wants(t, err, ErrAddrInUse)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestIWARPPeerGone: the kernel says that a peer has gone by another errno.
func TestIWARPPeerGone(t *testing.T) {
	r := newIWARPRig(t)
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_ACCEPT {
			return syscall.ECONNRESET
		}
		return nil
	}
	l, ctx := r.listen(nil), testContext(t)
	dialed := async(func() (*Conn, error) { return (&Dialer{}).DialAddr(ctx, serverAddr) })
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	_, err = req.Accept(ctx, nil)
	wants(t, err, ErrPeerGone, syscall.ECONNRESET)
	_, err = get(t, dialed)
	wants(t, err, ErrRejected)
}

// holdConnect makes the kernel hold on to the connect command until release is
// closed, and then fail it. blocked is closed when it has the command.
func (r *rig) holdConnect() (blocked, release chan struct{}) {
	blocked, release = make(chan struct{}), make(chan struct{})
	r.cm.Before = func(c fakecm.Call) error {
		if c.Op == "write" && c.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
			close(blocked)
			<-release
			return syscall.ETIMEDOUT
		}
		return nil
	}
	return blocked, release
}

// TestIWARPCancel: a dial ends with its context although the kernel's command still
// blocks, and what it made goes when the command returns.
func TestIWARPCancel(t *testing.T) {
	r := newIWARPRig(t)
	blocked, release := r.holdConnect()
	r.listen(nil)
	ctx, cancel := context.WithCancel(testContext(t))
	dialed := async(func() (*Conn, error) { return (&Dialer{}).DialAddr(ctx, serverAddr) })
	<-blocked
	cancel()
	_, err := get(t, dialed)
	wants(t, err, context.Canceled)
	close(release)
	waitFor(t, func() bool { return len(r.verbs.Survivors()) == 0 })
}

// TestIWARPHearsPeer: the accepting side does not send before the peer has.
func TestIWARPHearsPeer(t *testing.T) {
	r := newIWARPRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{})
	server.iw.accepted = time.Now().Add(time.Hour)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	err := server.SendCopy(ctx, []byte("too early"))
	wants(t, err, context.DeadlineExceeded)
	if client.iw.listening.Load() {
		t.Error("the side that connected waits too")
	}
	server.recvs.complete(&uverbs.WC{})
	if err := server.hearPeer(testContext(t)); err != nil || server.iw.listening.Load() {
		t.Errorf("after a message: %v", err)
	}
	client.listenFirst()
	client.end(ErrPeerClosed)
	wants(t, client.hearPeer(testContext(t)), ErrPeerClosed)
}

// TestIWARPBroken: a request that is refused before its connection's end is known
// fails with that.
func TestIWARPBroken(t *testing.T) {
	r := newIWARPRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{})
	failed := async(func() (int, error) {
		return 0, client.refused(testContext(t), syscall.ENOTCONN)
	})
	client.end(ErrPeerClosed)
	_, err := get(t, failed)
	wants(t, err, ErrPeerClosed)
}

func TestIWARPReadEach(t *testing.T) {
	r := newIWARPRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{})
	mem := alloc(t, client, 64, 0)
	err := client.Read(testContext(t), RemoteMemory{Len: 10}, Slice{}, mem.Slice(0, 11))
	wants(t, err, syscall.EMSGSIZE)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	err = client.Read(testContext(t), RemoteMemory{Len: 64}, mem.Slice(0, 11), mem.Slice(11, 11))
	wants(t, err, net.ErrClosed)
}

// TestConnectErrorIWARP: only what TCP calls a refusal is one.
func TestConnectErrorIWARP(t *testing.T) {
	for errno, refused := range map[syscall.Errno]bool{
		syscall.ECONNREFUSED: true, syscall.ECONNRESET: true, syscall.ETIMEDOUT: false, syscall.EINVAL: false,
	} {
		err := connectErrorIWARP(&ucma.Error{Command: abi.RDMA_USER_CM_CMD_CONNECT, Err: errno})
		wants(t, err, errno)
		if errors.Is(err, ErrRejected) != refused {
			t.Errorf("%v: %v", errno, err)
		}
	}
	if connectErrorIWARP(nil) != nil {
		t.Error("an error without one")
	}
}

// TestIWARPNudges: the side that has accepted reads nothing from a peer of which no
// message has come, if the peer serves reads at all, and leaves others alone.
func TestIWARPNudges(t *testing.T) {
	r := newIWARPRig(t)
	saved, savedBack := nudges, nudgesBack
	nudges, nudgesBack = nil, []time.Duration{50 * time.Millisecond}
	t.Cleanup(func() { nudges, nudgesBack = saved, savedBack })
	l := r.listen(nil)
	for _, tt := range []struct {
		name   string
		reads  int
		spoken bool
		want   int
	}{
		{"silent", 0, false, 1},
		{"has spoken", 0, true, 0},
		{"serves no reads", -1, false, 0},
	} {
		before := r.sends()
		_, server := r.pair(l, &Dialer{Config: &Config{PeerReads: tt.reads}})
		if tt.spoken {
			server.recvs.complete(&uverbs.WC{})
		}
		if tt.want > 0 {
			waitFor(t, func() bool { return r.sends() != before })
		} else {
			time.Sleep(200 * time.Millisecond) // several times as long as it takes
		}
		if got := r.sends() - before; got != tt.want {
			t.Errorf("%s: %d nudges, want %d", tt.name, got, tt.want)
		}
	}
}

// TestIWARPNudgeFails: a nudge that fails shows that the connection has ended, but
// not why.
func TestIWARPNudgeFails(t *testing.T) {
	r := newIWARPRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{})
	failed := uverbs.WC{ID: client.sends.base | operation, Status: abi.IB_WC_LOC_QP_OP_ERR}
	client.complete(&failed)
	if err := client.Err(); err != nil {
		t.Errorf("after a nudge: %v", err)
	}
	waitEnd(t, client) // for the queue pair is in the error state
	var ce *uverbs.CompletionError
	if errors.As(client.Err(), &ce); ce == nil || strings.HasPrefix(client.Err().Error(), ce.Error()) {
		t.Errorf("after a nudge: %v", client.Err())
	}
}

// sends is how many doorbells of send queues have been rung.
func (r *rig) sends() (n int) {
	for _, name := range r.verbs.Calls() {
		if name == "POST_SEND" {
			n++
		}
	}
	return n
}

// TestIWARPConnectEnds: ID.Connect returns with its context, or with the ID's Close,
// although the kernel's command still blocks; what is left goes when it returns.
func TestIWARPConnectEnds(t *testing.T) {
	setPatience(t, 50*time.Millisecond)
	for _, tt := range []struct {
		name string
		end  func(cancel func(), id *ID) error
		want error
	}{
		{"context", func(cancel func(), _ *ID) error { cancel(); return nil }, context.Canceled},
		{"Close", func(_ func(), id *ID) error { return id.Close() }, net.ErrClosed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newIWARPRig(t)
			blocked, release := r.holdConnect()
			id := r.resolved()
			ctx, cancel := context.WithCancel(testContext(t))
			defer cancel()
			connected := async(func() (*ucma.ConnParam, error) { return id.Connect(ctx, plainParam, ucma.ECE{}) })
			<-blocked
			ended := async(func() (int, error) { return 0, tt.end(cancel, id) })
			_, err := get(t, connected)
			wants(t, err, tt.want)
			if _, err := get(t, ended); err != nil {
				t.Error(err)
			}
			again := error(syscall.EALREADY)
			if id.isClosed() {
				again = net.ErrClosed
			}
			_, err = id.Connect(testContext(t), plainParam, ucma.ECE{})
			wants(t, err, again)
			if err := id.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
			wants(t, id.Establish(), net.ErrClosed)
			if r.cm.Left().IDs != 1 {
				t.Error("the ID is destroyed under its command")
			}
			close(release)
			waitFor(t, func() bool { return r.cm.Left().Files == 0 })
		})
	}
}
