package cm

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
)

// A crowd counts who is in a call at the same time. The calls return when it is let go.
type crowd struct {
	inside, most, total atomic.Int64
	open                chan struct{}
	once                sync.Once
}

// newCrowd returns one that is let go at the end of the test at the latest.
func newCrowd(t testing.TB) *crowd {
	c := &crowd{open: make(chan struct{})}
	t.Cleanup(c.letGo)
	return c
}

func (c *crowd) letGo() { c.once.Do(func() { close(c.open) }) }

func (c *crowd) enter() {
	n := c.inside.Add(1)
	c.total.Add(1)
	for m := c.most.Load(); n > m && !c.most.CompareAndSwap(m, n); m = c.most.Load() {
	}
	<-c.open
	c.inside.Add(-1)
}

// TestPool: a pool runs no more at a time than it has workers, and has none when there
// is nothing to do.
func TestPool(t *testing.T) {
	before := runtime.NumGoroutine()
	p := &pool{workers: 4}
	c := newCrowd(t)
	const all = 10_000
	for range all {
		p.run(c.enter)
	}
	waitFor(t, func() bool { return c.inside.Load() == 4 })
	if n := runtime.NumGoroutine() - before; n > 4 {
		t.Errorf("%d goroutines for %d jobs", n, all)
	}
	c.letGo()
	waitFor(t, func() bool { return c.total.Load() == all && c.inside.Load() == 0 })
	if n := c.most.Load(); n != 4 {
		t.Errorf("%d at a time", n)
	}
	checkGoroutines(t, before)
}

// TestPoolOrder: what comes first is done first.
func TestPoolOrder(t *testing.T) {
	p := &pool{workers: 1}
	done := make(chan int, 100)
	for i := range cap(done) {
		p.run(func() { done <- i })
	}
	for i := range cap(done) {
		if got := <-done; got != i {
			t.Fatalf("job %d came as the %dth", got, i)
		}
	}
}

// destroysBlock lets DESTROY_ID commands join a crowd once it is held. It comes before
// the first use of the fake.
func (r *rig) destroysBlock() (c *crowd, hold func()) {
	c = newCrowd(r.t)
	var held atomic.Bool
	r.cm.Before = func(call fakecm.Call) error {
		if held.Load() && call.Op == "write" && call.Cmd == abi.RDMA_USER_CM_CMD_DESTROY_ID {
			c.enter()
		}
		return nil
	}
	return c, func() { held.Store(true) }
}

// shortPatience makes Close wait not as long.
func shortPatience(t *testing.T) { setPatience(t, 20*time.Millisecond) }

// setPatience makes Close wait as long as that.
func setPatience(t *testing.T, d time.Duration) {
	saved := closePatience
	closePatience = d
	t.Cleanup(func() {
		awaitBackground(t)
		closePatience = saved
	})
}

// awaitBackground waits until nothing is done in the background.
func awaitBackground(t *testing.T) {
	t.Helper()
	pools := []*pool{background.teardowns, background.connects, background.answers, background.destroys, background.verdicts}
	for deadline := time.Now().Add(testTime); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		busy := 0
		for _, p := range pools {
			p.mu.Lock()
			busy += p.running
			p.mu.Unlock()
		}
		if busy == 0 {
			return
		}
	}
	t.Error("the background does not come to an end")
}

// TestManyRemovals: the removal of a device with many connections, all of whose
// destructions the kernel holds up, takes a few threads.
func TestManyRemovals(t *testing.T) {
	r := newRig(t)
	shortPatience(t)
	c, hold := r.destroysBlock()
	l, err := ListenAddr(serverAddr, nil)
	if err != nil {
		t.Fatal(err)
	}
	const pairs = 500
	conf := &Config{SendDepth: 1, RecvDepth: 1, RecvSize: 64, CloseTimeout: -1}
	var conns []*Conn
	for range pairs {
		dialed := async(func() (*Conn, error) { return (&Dialer{Config: conf}).DialAddr(testContext(t), serverAddr) })
		client, server := r.accept(l, dialed, &AcceptOptions{Config: conf})
		conns = append(conns, client, server)
	}
	before := runtime.NumGoroutine()
	hold()
	r.cm.RemoveDevice(fakecm.DefaultDevice.Index)
	for _, conn := range conns {
		waitEnd(t, conn)
		wants(t, conn.Err(), ErrDeviceRemoved)
	}
	waitFor(t, func() bool { return c.inside.Load() == int64(background.destroys.workers) })
	most := background.teardowns.workers + background.answers.workers + background.destroys.workers
	for range 20 {
		if n := runtime.NumGoroutine() - before; n > most {
			t.Fatalf("%d goroutines for %d removals, expected at most %d", n, len(conns), most)
		}
		time.Sleep(time.Millisecond)
	}
	c.letGo()
	for _, conn := range conns {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if n := c.most.Load(); n > int64(background.destroys.workers) {
		t.Errorf("%d destructions at a time", n)
	}
	r.waitClosed()
}

// TestRequestFlood: requests for which there is no room, and those whose listener is
// gone, take a few threads, and all are destroyed in the end.
func TestRequestFlood(t *testing.T) {
	r := newRig(t)
	shortPatience(t)
	c, hold := r.destroysBlock()
	l, err := ListenAddr(serverAddr, &ListenConfig{Backlog: 1})
	if err != nil {
		t.Fatal(err)
	}
	ch := l.ID().Channel()
	before := runtime.NumGoroutine()
	hold()
	const each, handles = 5_000, 1 << 20 // handles that are nobody's
	request := uint32(abi.RDMA_CM_EVENT_CONNECT_REQUEST)
	for i := range uint32(each) {
		r.cm.Inject(l.id.handle, abi.RDMAUCMEventResp{UID: l.id.uid, ID: handles + i, Event: request})
		r.cm.Inject(l.id.handle, abi.RDMAUCMEventResp{UID: 1 << 60, ID: handles + each + i, Event: request})
	}
	waitFor(t, func() bool {
		return l.Busy() == each-1 && ch.Stats().Orphans == each && c.inside.Load() == int64(background.destroys.workers)
	})
	most := background.answers.workers + background.destroys.workers
	if n := runtime.NumGoroutine() - before; n > most {
		t.Errorf("%d goroutines, expected at most %d", n, most)
	}
	if s := ch.Stats(); s.Destroying < each {
		t.Errorf("%+v", s)
	}
	if s := l.Stats(); s.Busy != each-1 || s.Unexplained == 0 || s.Waiting != 1 {
		t.Errorf("%+v", s)
	}
	c.letGo()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	waitFor(t, func() bool { return ch.Stats().Destroying == 0 })
	if n := c.total.Load(); n != 2*each+1 {
		t.Errorf("%d destructions, expected %d", n, 2*each+1)
	}
	r.waitClosed()
}

// TestManyConnects: connects over iWARP whose TCP connections do not come about take a
// bounded number of threads, whether anybody still waits for them or not; those that
// were given up before their turn are never begun.
func TestManyConnects(t *testing.T) {
	r := newIWARPRig(t)
	shortPatience(t)
	c := newCrowd(t)
	r.cm.Before = func(call fakecm.Call) error {
		if call.Op == "write" && call.Cmd == abi.RDMA_USER_CM_CMD_CONNECT {
			c.enter()
			return syscall.ETIMEDOUT
		}
		return nil
	}
	most := int64(background.connects.workers)
	ctx, cancel := context.WithCancel(testContext(t))
	defer cancel()
	var ids []*ID
	var connected []<-chan result[*ucma.ConnParam]
	for range 2 * most {
		id := r.resolved()
		ids = append(ids, id)
		connected = append(connected, async(func() (*ucma.ConnParam, error) { return id.Connect(ctx, plainParam, ucma.ECE{}) }))
	}
	waitFor(t, func() bool { return c.inside.Load() == most })
	cancel()
	for _, conn := range connected {
		_, err := get(t, conn)
		wants(t, err, context.Canceled)
	}
	before := runtime.NumGoroutine()
	for _, id := range ids[:10] {
		if err := id.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := runtime.NumGoroutine() - before; n > 0 {
		t.Errorf("%d more goroutines for IDs whose command is still under way", n)
	}
	c.letGo()
	for _, id := range ids[10:] {
		if err := id.Close(); err != nil {
			t.Error(err)
		}
	}
	if n := c.total.Load(); n != most || c.most.Load() != most {
		t.Errorf("%d connect commands, %d at a time, expected %d", n, c.most.Load(), most)
	}
	r.waitClosed()
}
