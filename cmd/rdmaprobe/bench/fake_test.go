package bench

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// fakeDevice is a device of a fake kernel.
func fakeDevice() *uverbs.Device {
	return &uverbs.Device{Name: "rxe0", DriverID: abi.RDMA_DRIVER_RXE,
		CharDev: uverbs.CharDev{Name: "uverbs0", Path: fakeverbs.Path, ABIVersion: 2}}
}

// useFake has sides made on a fake kernel, until the test ends: nothing may be left
// there then.
func useFake(t testing.TB) *fakeverbs.Kernel {
	k, saved := fakeverbs.New(), openDevice
	openDevice = func(d *uverbs.Device) (*uverbs.Context, error) { return uverbs.OpenOn(k, d, nil) }
	t.Cleanup(func() {
		openDevice = saved
		if left := k.Survivors(); len(left) != 0 {
			t.Errorf("left in the kernel: %v", left)
		}
	})
	return k
}

// fakeID is a connection request at the server. Its client disconnects with hangUp.
type fakeID struct {
	peer   netip.AddrPort
	device *uverbs.Device
	ended  chan struct{} // the client has disconnected
	once   sync.Once

	// confirm, if not nil, is closed when the client confirms that it is accepted.
	confirm chan struct{}

	mu       sync.Mutex
	accepted bool
	rejected string
	closed   bool
}

func newFakeID(peer string) *fakeID {
	return &fakeID{peer: netip.MustParseAddrPort(peer), device: fakeDevice(), ended: make(chan struct{})}
}

func (f *fakeID) hangUp() { f.once.Do(func() { close(f.ended) }) }

// answer is what the client got: whether it was accepted, the text of a reject, and whether
// the server has closed its end.
func (f *fakeID) answer() (accepted bool, rejected string, closed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.accepted, f.rejected, f.closed
}

func (f *fakeID) Device() (*uverbs.Device, error)   { return f.device, nil }
func (f *fakeID) Port() (uint8, error)              { return 1, nil }
func (f *fakeID) LocalAddr() (ucma.Sockaddr, error) { return ucma.SockaddrFrom(netip.AddrPort{}) }
func (f *fakeID) RemoteAddr() (ucma.Sockaddr, error) {
	return ucma.SockaddrFrom(f.peer)
}

func (f *fakeID) CreateQP(pd *uverbs.PD, cfg uverbs.QPConfig) (*uverbs.QP, error) {
	return pd.CreateQP(cfg)
}

func (f *fakeID) ModifyQP(*uverbs.QP, abi.IBQPState) error { return nil } // the fake kernel needs no states

func (f *fakeID) Accept(*ucma.ConnParam, ucma.ECE) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.accepted = true
	return nil
}

func (f *fakeID) Reject(data []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rejected = string(data)
	return nil
}

func (f *fakeID) WaitEstablished(ctx context.Context) error {
	if f.confirm == nil {
		return nil
	}
	select {
	case <-f.confirm:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (f *fakeID) NextEvent(ctx context.Context) (ucma.Event, error) {
	select {
	case <-f.ended:
		return ucma.Event{Type: abi.RDMA_CM_EVENT_DISCONNECTED}, nil
	case <-ctx.Done():
		return ucma.Event{}, ctx.Err()
	}
}

func (f *fakeID) Disconnect() error { f.hangUp(); return nil }

func (f *fakeID) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	return nil
}

// ask is a request of a client.
func ask(r request) ucma.ConnParam { return ucma.ConnParam{PrivateData: r.marshal()} }

// startFake makes a server without a listener, whose requests the test makes, and counts
// those that it refuses.
func startFake() (*Server, *atomic.Int32) {
	srv, refused := newServer(), new(atomic.Int32)
	srv.OnEvent = func(e ServerEvent) {
		if e.Event == "refused" {
			refused.Add(1)
		}
	}
	return srv, refused
}

// began tells whether a test of 10.0.0.2 has all of its queue pairs.
func (srv *Server) began(token uint64) bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	t := srv.tests[testKey{netip.MustParseAddr("10.0.0.2"), token}]
	if t == nil || t.side == nil {
		return false
	}
	select {
	case <-t.side.ready:
		return true
	default:
		return false
	}
}

// taken is what all tests of a server take.
func (srv *Server) taken() (tests int, memory int64) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.ledger.all.tests, srv.ledger.all.memory
}
