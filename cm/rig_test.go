package cm

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs"
)

func init() { explainWithin = 50 * time.Millisecond }

// A rig is this package on fake kernels: the connection manager's and the
// verbs device's. Its end checks that nothing is left anywhere.
type rig struct {
	t      testing.TB
	cm     *fakecm.Kernel
	verbs  *fakeverbs.Kernel
	device *uverbs.Device // what discovery finds; without ports, as where sysfs is missing
}

// serverAddr is an address of the fake's device, with a port nobody uses.
var serverAddr = netip.MustParseAddrPort("10.0.0.1:7174")

// newRig puts fakes in the machine's place until the end of the test. Tests
// with a rig do not run in parallel.
func newRig(t testing.TB) *rig {
	t.Helper()
	r := &rig{t: t, verbs: fakeverbs.New()}
	r.cm = &fakecm.Kernel{Other: r.verbs}
	before, mapped, use := runtime.NumGoroutine(), offheap.Mapped(), ReadMemoryUse()
	saved := host
	host.kernel = r.cm
	dev := uverbs.Device{
		Index: int(fakecm.DefaultDevice.Index), Name: "rxe0", DriverID: abi.RDMA_DRIVER_RXE,
		CharDev: uverbs.CharDev{Name: "uverbs0", Path: fakeverbs.Path, ABIVersion: 2},
	}
	r.device = &dev
	found := func(ok bool) (*uverbs.Device, error) {
		if !ok {
			return nil, uverbs.ErrNoDevice
		}
		d := dev
		return &d, nil
	}
	host.deviceByIndex = func(index int) (*uverbs.Device, error) { return found(index == dev.Index) }
	host.deviceByName = func(name string) (*uverbs.Device, error) { return found(name == dev.Name) }
	host.deviceByGUID = func(uverbs.GUID) (*uverbs.Device, error) { return nil, uverbs.ErrNoDevice }
	t.Cleanup(func() {
		host = saved
		r.checkNothingLeft()
		checkGoroutines(t, before)
		if after := offheap.Mapped(); after != mapped {
			t.Errorf("%d bytes mapped, %d before", after, mapped)
		}
		if after := ReadMemoryUse(); after != use {
			t.Errorf("memory in use: %+v, before: %+v", after, use)
		}
	})
	return r
}

// checkNothingLeft looks into both kernels and the package's own tables. A Close that
// does not wait long for the kernel gives back what is shared when that returns, which
// is soon.
func (r *rig) checkNothingLeft() {
	r.t.Helper()
	for deadline := time.Now().Add(testTime); !r.nothingLeft() && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
	}
	if left := r.cm.Left(); left.Files+left.IDs+left.Groups != 0 {
		r.t.Errorf("left in the connection manager: %+v", left)
	}
	if left := r.verbs.Survivors(); len(left) != 0 {
		r.t.Errorf("left in the verbs device: %v", left)
	}
	shared.mu.Lock()
	if shared.ch != nil {
		r.t.Error("the process-wide channel is open")
	}
	shared.mu.Unlock()
	r.checkDeviceClosed()
}

// nothingLeft reports whether checkNothingLeft has nothing to say.
func (r *rig) nothingLeft() bool {
	if left := r.cm.Left(); left.Files+left.IDs+left.Groups != 0 || len(r.verbs.Survivors()) != 0 {
		return false
	}
	shared.mu.Lock()
	defer shared.mu.Unlock()
	devices.mu.Lock()
	defer devices.mu.Unlock()
	return shared.ch == nil && len(devices.open) == 0
}

func (r *rig) checkDeviceClosed() {
	r.t.Helper()
	devices.mu.Lock()
	defer devices.mu.Unlock()
	if len(devices.open) != 0 {
		r.t.Errorf("%d devices are open", len(devices.open))
	}
}

// count returns how many objects of a kind ("pd", "mr", "qp") the verbs device has.
func (r *rig) count(kind string) (n int) {
	for _, s := range r.verbs.Survivors() {
		if strings.HasPrefix(s, "*fakeverbs."+kind+" ") {
			n++
		}
	}
	return n
}

// openPD opens the rig's device and makes a protection domain, closed at the end.
func (r *rig) openPD() *PD {
	r.t.Helper()
	p, err := OpenPD("rxe0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := p.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return p
}

// testTime is how long anything may take in a test. What takes longer has hung: tests
// share the machine with others, and do not measure how quick it is.
const testTime = time.Minute

// checkGoroutines waits for goroutines that are on their way out.
func checkGoroutines(t testing.TB, before int) {
	t.Helper()
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if runtime.NumGoroutine() <= before {
			return
		}
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

// listen starts a listener on the server's address; it is closed at the end.
func (r *rig) listen(cfg *ListenConfig) *Listener {
	r.t.Helper()
	return r.listenAt(serverAddr, cfg)
}

func (r *rig) listenAt(addr netip.AddrPort, cfg *ListenConfig) *Listener {
	r.t.Helper()
	l, err := ListenAddr(addr, cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := l.Close(); err != nil {
			r.t.Error(err)
		}
	})
	return l
}

// result is what a call in another goroutine returned.
type result[T any] struct {
	v   T
	err error
}

func async[T any](f func() (T, error)) <-chan result[T] {
	c := make(chan result[T], 1)
	go func() {
		v, err := f()
		c <- result[T]{v, err}
	}()
	return c
}

// get waits for an asynchronous result.
func get[T any](t testing.TB, c <-chan result[T]) (T, error) {
	t.Helper()
	select {
	case r := <-c:
		return r.v, r.err
	case <-time.After(testTime):
		buf := make([]byte, 1<<16)
		t.Fatalf("hangs:\n%s", buf[:runtime.Stack(buf, true)])
		panic("unreachable")
	}
}

// waitEnd returns when the connection has ended.
func waitEnd(t testing.TB, c *Conn) {
	t.Helper()
	select {
	case <-c.Done():
	case <-time.After(testTime):
		t.Fatal("the connection does not end")
	}
}

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), testTime)
	t.Cleanup(cancel)
	return ctx
}

// expiring is a context whose time is over when expire is called.
func expiring(t testing.TB) (ctx context.Context, expire func()) {
	e := &expired{testContext(t), make(chan struct{})}
	return e, sync.OnceFunc(func() { close(e.over) })
}

type expired struct {
	context.Context
	over chan struct{}
}

func (e *expired) Done() <-chan struct{} { return e.over }

func (e *expired) Err() error {
	select {
	case <-e.over:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

// quick is a configuration whose Close does not wait long for a silent peer.
var quick = &Config{CloseTimeout: 50 * time.Millisecond}

// pair dials a listener and accepts. Both ends are closed at the end.
func (r *rig) pair(l *Listener, d *Dialer) (client, server *Conn) {
	r.t.Helper()
	ctx := testContext(r.t)
	dialed := async(func() (*Conn, error) { return d.DialAddr(ctx, l.Addr().(Addr).AddrPort) })
	client, server = r.accept(l, dialed, &AcceptOptions{PrivateData: []byte("welcome")})
	r.t.Cleanup(func() {
		// The other way round would do as well; at once shows more.
		closed := async(func() (int, error) { return 0, server.Close() })
		if err := client.Close(); err != nil {
			r.t.Errorf("close client: %v", err)
		}
		if _, err := get(r.t, closed); err != nil {
			r.t.Errorf("close server: %v", err)
		}
	})
	return client, server
}

// accept accepts the listener's next request, and returns both ends of the connection.
func (r *rig) accept(l *Listener, dialed <-chan result[*Conn], opts *AcceptOptions) (client, server *Conn) {
	r.t.Helper()
	ctx := testContext(r.t)
	req, err := l.Accept(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	if server, err = req.Accept(ctx, opts); err != nil {
		r.t.Fatal(err)
	}
	if client, err = get(r.t, dialed); err != nil {
		r.t.Fatal(err)
	}
	return client, server
}

// allocator is what makes regions, a Conn or a PD.
type allocator interface {
	Alloc(n int, access Access) (*Region, error)
}

// alloc makes a region that is closed at the end.
func alloc(t testing.TB, a allocator, n int, access Access) *Region {
	t.Helper()
	r, err := a.Alloc(n, access)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// recvText receives a message and releases it.
func recvText(ctx context.Context, c *Conn) (string, error) {
	m, err := c.Recv(ctx)
	if err != nil {
		return "", err
	}
	text := string(m.Data)
	return text, m.Release()
}

// wants fails the test unless err matches all of targets.
func wants(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("error %v does not match %v", err, target)
		}
	}
}

func wantsText(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(fmt.Sprint(err), p) {
			t.Errorf("error %q does not contain %q", fmt.Sprint(err), p)
		}
	}
}
