//go:build linux

package integration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// busyPairs connections have twice as many queue pairs.
const busyPairs = 25

// removalTime is how long the kernel may need to take a device away, and
// everything that works on it to end.
const removalTime = 15 * time.Second

// TestBusyRemoval deletes a device under 50 queue pairs that send and receive:
// everybody is told why, the kernel gets the descriptors it waits for although
// nobody closes a connection, and the device works when it is back.
func TestBusyRemoval(t *testing.T) {
	requireRDMA(t)
	addr := newLink(t, "rdmt2", "rmt2", "10.79.2.1/24")
	checkLeaks(t)
	wildcard := listenOn(t, "0.0.0.0:0", nil)
	_, port, _ := strings.Cut(wildcard.Addr().String(), ":")
	before := deviceFiles(t)
	for round := range 2 {
		ends := busyConns(t, wildcard, addr+":"+port)
		deleteLink(t, "rmt2")
		start := time.Now()
		for _, err := range drain(t, ends, 2*busyPairs) {
			if !errors.Is(err, cm.ErrDeviceRemoved) && !errors.Is(err, cm.ErrPeerClosed) {
				t.Errorf("round %d: an operation ended with %v", round, err)
			}
		}
		t.Logf("round %d: %d operations ended %v after the deletion", round, 2*busyPairs, time.Since(start))
		waitForFiles(t, before)
		addLink(t, "rmt2", "rdmt2", addr)
	}
	client, server, _ := connectTo(t, wildcard, &cm.Dialer{}, nil, addr+":"+port)
	exchange(t, client, server, 10)
}

// busyConns makes connections that play ping-pong. Each end reports how that
// ended.
func busyConns(t *testing.T, l *cm.Listener, address string) <-chan error {
	t.Helper()
	ch := make(chan error, 2*busyPairs)
	var pairs [busyPairs][2]*cm.Conn
	for i := range pairs {
		pairs[i][0], pairs[i][1], _ = connectTo(t, l, &cm.Dialer{}, nil, address)
	}
	var moving sync.WaitGroup
	moving.Add(2 * busyPairs)
	for _, p := range pairs {
		go func() { ch <- pingPong(p[0], true, moving.Done) }()
		go func() { ch <- pingPong(p[1], false, moving.Done) }()
	}
	moving.Wait()
	return ch
}

// pingPong answers each message with one until that fails.
func pingPong(c *cm.Conn, serve bool, first func()) error {
	ctx, data := context.Background(), make([]byte, 1000)
	for i := 0; ; i++ {
		if serve || i > 0 {
			if err := c.SendCopy(ctx, data); err != nil {
				return err
			}
		}
		m, err := c.Recv(ctx)
		if err != nil {
			return err
		}
		if err := m.Release(); err != nil {
			return err
		}
		if i == 0 {
			first()
		}
	}
}

// TestVerbsBusyRemoval is the same without the connection manager, whose
// events tell of a removal: here only the context knows.
func TestVerbsBusyRemoval(t *testing.T) {
	requireRDMA(t)
	addr := newLink(t, "rdmt3", "rmt3", "10.79.3.1/24")
	checkLeaks(t)
	before := deviceFiles(t)
	for round := range 2 {
		r := busyQPs(t, "rmt3")
		ends := make(chan error, 1)
		go func() { // as a program should: close everything when told
			<-r.c.Removed()
			ends <- r.close()
		}()
		deleteLink(t, "rmt3")
		for _, err := range drain(t, r.ends, 2*busyPairs) {
			if !errors.Is(err, uverbs.ErrDeviceRemoved) {
				t.Errorf("round %d: a waiter ended with %v", round, err)
			}
		}
		if err := drain(t, ends, 1)[0]; err != nil {
			t.Errorf("round %d: close: %v", round, err)
		}
		waitForFiles(t, before)
		addLink(t, "rmt3", "rdmt3", addr)
	}
}

// busyRig is a context with queue pairs that write all the time.
type busyRig struct {
	c       *uverbs.Context
	ends    chan error
	waiters sync.WaitGroup
	objects []interface{ Close() error } // in the order of their making
}

func (r *busyRig) add(o interface{ Close() error }) { r.objects = append(r.objects, o) }

// close waits for the waiters, as a program must before it closes what they use.
func (r *busyRig) close() error {
	r.waiters.Wait()
	var errs []error
	for _, o := range slices.Backward(r.objects) {
		errs = append(errs, o.Close())
	}
	return errors.Join(errs...)
}

func busyQPs(t *testing.T, device string) *busyRig {
	t.Helper()
	dev, err := uverbs.DeviceByName(device)
	if err != nil {
		t.Fatal(err)
	}
	r := &busyRig{ends: make(chan error, 2*busyPairs)}
	if r.c, err = dev.Open(nil); err != nil {
		t.Fatal(err)
	}
	r.add(r.c)
	pd, err := r.c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	r.add(pd)
	var channels [2]*uverbs.CompChannel
	for i, create := range []func() (*uverbs.CompChannel, error){r.c.CreateCompChannel, r.c.CreateBlockingCompChannel} {
		if channels[i], err = create(); err != nil {
			t.Fatal(err)
		}
		r.add(channels[i])
	}
	gid := verbsGID(t, r.c)
	var sides [][2]*verbsSide
	for i := range busyPairs {
		ch := channels[i%2]
		a, b := r.side(t, pd, ch), r.side(t, pd, ch)
		if err := errors.Join(rxeToRTS(a, b, gid), rxeToRTS(b, a, gid)); err != nil {
			t.Fatal(err)
		}
		sides = append(sides, [2]*verbsSide{a, b}, [2]*verbsSide{b, a})
	}
	// The traffic would make the making of the others slow.
	var moving sync.WaitGroup
	moving.Add(2 * busyPairs)
	for _, s := range sides {
		r.waiters.Go(func() { r.ends <- writeOn(s[0], s[1], moving.Done) })
	}
	moving.Wait()
	return r
}

func (r *busyRig) side(t *testing.T, pd *uverbs.PD, ch *uverbs.CompChannel) *verbsSide {
	t.Helper()
	cq, err := pd.Context().CreateCQ(uverbs.CQConfig{Entries: 16, Channel: ch})
	if err != nil {
		t.Fatal(err)
	}
	r.add(cq)
	mem, err := uverbs.NewMemory(4096)
	if err != nil {
		t.Fatal(err)
	}
	r.add(mem)
	mr, err := pd.RegMR(mem, rxeAccess)
	if err != nil {
		t.Fatal(err)
	}
	r.add(mr)
	qp, err := pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_RC, SendCQ: cq, RecvCQ: cq, Cap: verbsCap})
	if err != nil {
		t.Fatal(err)
	}
	r.add(qp)
	return &verbsSide{t: t, qp: qp, cq: cq, mr: mr, psn: uverbs.NewPSN()}
}

// writeOn writes to the peer until that fails; flushed requests are no cause.
func writeOn(s, peer *verbsSide, first func()) error {
	var wcs [4]uverbs.WC
	for i := 0; ; i++ {
		err := s.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
			SGEs: []uverbs.SGE{s.mr.SGE(0, 512)}, RemoteAddr: peer.mr.Addr(), RKey: peer.mr.RKey()})
		if err != nil {
			return err
		}
		if _, err := s.cq.Wait(context.Background(), wcs[:]); err != nil {
			return err
		}
		if i == 0 {
			first()
		}
	}
}

// deleteLink deletes the link; that takes as long as the device is in use.
func deleteLink(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), removalTime)
	defer cancel()
	start := time.Now()
	if err := uverbs.DeleteLink(ctx, name); err != nil {
		t.Fatalf("%v\n%s", err, stacks())
	}
	t.Logf("deleting %s took %v", name, time.Since(start))
}

func addLink(t *testing.T, name, netdev, addr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), removalTime)
	defer cancel()
	if _, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Name: name, Type: "rxe", Netdev: netdev}); err != nil {
		t.Fatal(err)
	}
	waitForGID(t, name, addr)
}

// drain takes n results.
func drain(t *testing.T, ch <-chan error, n int) (all []error) {
	t.Helper()
	timeout := time.After(removalTime)
	for range n {
		select {
		case err := <-ch:
			all = append(all, err)
		case <-timeout:
			t.Fatalf("%d of %d ended in %v\n%s", len(all), n, removalTime, stacks())
		}
	}
	return all
}

// waitForFiles waits until the open files of devices are those again.
func waitForFiles(t *testing.T, want []string) {
	t.Helper()
	start := time.Now()
	got := deviceFiles(t)
	for ; !slices.Equal(got, want) && time.Since(start) < removalTime; got = deviceFiles(t) {
		time.Sleep(10 * time.Millisecond)
	}
	if !slices.Equal(got, want) {
		t.Errorf("files after the removal: %v, before: %v", got, want)
	}
	t.Logf("the device's files were closed within %v", time.Since(start))
}

// deviceFiles lists the open files of verbs devices.
func deviceFiles(t *testing.T) []string {
	t.Helper()
	return slices.DeleteFunc(openFiles(t), func(name string) bool { return !strings.Contains(name, "uverbs") })
}
