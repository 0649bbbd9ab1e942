package cm

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
)

// soon returns a context that ends a moment after the call that gets it has begun
// to wait, however long that took on a busy machine.
func soon(t testing.TB) context.Context {
	return &waited{expired: expired{testContext(t), make(chan struct{})}}
}

// waited is a context whose time runs from when somebody waits for its end.
type waited struct {
	expired
	once sync.Once
}

func (w *waited) Done() <-chan struct{} {
	w.once.Do(func() { time.AfterFunc(10*time.Millisecond, func() { close(w.over) }) })
	return w.over
}

// posted fails the test unless err is of an operation that was, or was not, posted.
func posted(t testing.TB, err error, want bool, target error) {
	t.Helper()
	var oe *OpError
	if !errors.As(err, &oe) || oe.Posted != want || !errors.Is(err, target) {
		t.Errorf("error %v (%+v), want posted %v and %v", err, oe, want, target)
	}
}

// receives fails the test unless these are the next messages, and the last ones.
func receives(t testing.TB, c *Conn, want ...string) {
	t.Helper()
	buf := make([]byte, 64)
	for i, w := range want {
		n, err := c.RecvCopy(testContext(t), buf)
		if err != nil || string(buf[:n]) != w {
			t.Fatalf("message %d is %q, %v; want %q", i, buf[:n], err, w)
		}
	}
	if n, err := c.RecvCopy(soon(t), buf); err == nil {
		t.Errorf("one message more: %q", buf[:n])
	}
}

// TestDoorbellFails: a request whose doorbell failed is in the queue. It is neither
// given up, nor sent twice, whether the device has taken it or not, and completions
// stay with their operations.
func TestDoorbellFails(t *testing.T) {
	for _, tc := range []struct{ taken, depth int }{{0, 1}, {0, 2}, {1, 1}, {1, 2}} {
		t.Run(fmt.Sprintf("%d taken, depth %d", tc.taken, tc.depth), func(t *testing.T) {
			r := newRig(t)
			client, server := r.pair(r.listen(nil), &Dialer{Config: &Config{SendDepth: tc.depth, CloseTimeout: quick.CloseTimeout}})
			ctx := testContext(t)
			for _, text := range []string{"one", "two", "three"} {
				r.verbs.FailDoorbell(syscall.ENOMEM, tc.taken)
				if err := client.SendCopy(ctx, []byte(text)); err != nil {
					t.Error(err)
				}
			}
			receives(t, server, "one", "two", "three")
			// A completion of another operation would make this one a success.
			near := alloc(t, client, 64, 0)
			if err := client.Write(ctx, RemoteMemory{Addr: 4096, Len: 64, RKey: 0xdead00}, near.All()); err == nil {
				t.Error("a write that the peer refused has succeeded")
			}
		})
	}
}

// TestDoorbellKeepsFailing: the operation ends with its context, its slot stays taken
// and the next doorbell sends it.
func TestDoorbellKeepsFailing(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: &Config{SendDepth: 1, CloseTimeout: quick.CloseTimeout}})
	ctx := testContext(t)
	r.verbs.FailDoorbells(syscall.ENOMEM)
	posted(t, client.SendCopy(soon(t), []byte("one")), true, context.DeadlineExceeded)
	posted(t, client.SendCopy(soon(t), []byte("never")), false, context.DeadlineExceeded) // no slot is free
	r.verbs.FailDoorbells(0)
	if err := client.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	if err := client.SendCopy(ctx, []byte("two")); err != nil {
		t.Fatal(err)
	}
	receives(t, server, "one", "two")
}

// TestDoorbellRefused: what does not pass ends the connection, with this as the cause.
func TestDoorbellRefused(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	r.verbs.FailDoorbell(syscall.EINVAL, 0)
	posted(t, client.SendCopy(testContext(t), []byte("one")), true, syscall.EINVAL)
	waitEnd(t, client)
	wants(t, client.Err(), ErrConnLost, syscall.EINVAL)
	r.verbs.FailDoorbell(0, 0)
}

// TestPostedOrNot: an operation whose context ended says whether the device has it,
// and Drain when it has done with it.
func TestPostedOrNot(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: &Config{SendDepth: 2, CloseTimeout: quick.CloseTimeout}})
	ctx := testContext(t)
	if err := client.Drain(ctx); err != nil {
		t.Errorf("nothing to wait for: %v", err)
	}
	r.verbs.HoldSends(client.QP().Number())
	mem := alloc(t, client, 64, 0)
	copy(mem.Bytes(), "onetwo")
	posted(t, client.Send(soon(t), mem.Slice(0, 3)), true, context.DeadlineExceeded)
	posted(t, client.Send(soon(t), mem.Slice(3, 3)), true, context.DeadlineExceeded)
	posted(t, client.Send(soon(t), mem.Slice(32, 3)), false, context.DeadlineExceeded)
	done, cancel := context.WithCancel(ctx)
	cancel()
	posted(t, client.Send(done, mem.Slice(32, 3)), false, context.Canceled)

	err := client.Drain(soon(t))
	wants(t, err, context.DeadlineExceeded)
	wantsText(t, err, "drain")
	drained := async(func() (int, error) { return 0, client.Drain(ctx) })
	r.verbs.ReleaseSends()
	if _, err := get(t, drained); err != nil {
		t.Fatal(err)
	}
	if n := len(client.sends.free); n != 2 {
		t.Errorf("%d of 2 slots are free", n)
	}
	for _, text := range []string{"three", "four", "five"} {
		if err := client.SendCopy(ctx, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	receives(t, server, "one", "two", "three", "four", "five")
}

// TestReuseBeforeDrain: memory of an operation that is under way is neither sent with
// what is written later, nor taken from the device.
func TestReuseBeforeDrain(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	mem, other := alloc(t, client, 64, 0), alloc(t, client, 64, 0)
	copy(mem.Bytes(), "one-two-")
	r.verbs.HoldSends(client.QP().Number())
	posted(t, client.Send(soon(t), mem.Slice(0, 4)), true, context.DeadlineExceeded)
	for _, sl := range []Slice{mem.All(), mem.Slice(0, 1), mem.Slice(3, 8)} {
		err := client.Send(soon(t), sl)
		posted(t, err, false, syscall.EBUSY)
		wantsText(t, err, "bytes 0 to 4", "Drain")
		posted(t, client.Read(soon(t), RemoteMemory{Addr: 4096, Len: 64, RKey: 1}, sl), false, syscall.EBUSY)
	}
	err := mem.Close()
	wants(t, err, syscall.EBUSY)
	wantsText(t, err, "64 bytes", "Drain")
	if err := other.Close(); err != nil {
		t.Errorf("a region that nothing uses: %v", err)
	}
	second := async(func() (int, error) { return 0, client.Send(ctx, mem.Slice(4, 4)) }) // beside it is fine
	for r.verbs.Queued(client.QP().Number()) < 2 {
		time.Sleep(time.Millisecond)
	}
	r.verbs.ReleaseSends()
	if _, err := get(t, second); err != nil {
		t.Fatal(err)
	}
	if err := client.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	receives(t, server, "one-", "two-")
	if err := client.Send(ctx, mem.Slice(0, 4)); err != nil {
		t.Errorf("after Drain: %v", err)
	}
	if err := mem.Close(); err != nil {
		t.Errorf("after Drain: %v", err)
	}
}

// TestRegionOfTwoOperations: of two operations on the same bytes one is abandoned; the
// completion of the other does not set the memory free.
func TestRegionOfTwoOperations(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	mem := alloc(t, client, 64, 0)
	copy(mem.Bytes(), "text")
	part := mem.Slice(0, 4)
	r.verbs.HoldSends(0)
	first := async(func() (int, error) { return 0, client.Send(ctx, part) })
	for r.verbs.Queued(client.QP().Number()) < 1 {
		time.Sleep(time.Millisecond)
	}
	posted(t, client.Send(soon(t), part), true, context.DeadlineExceeded)
	r.verbs.CompleteSends(client.QP().Number(), 1)
	if _, err := get(t, first); err != nil {
		t.Fatal(err)
	}
	posted(t, client.Send(soon(t), part), false, syscall.EBUSY)
	wants(t, mem.Close(), syscall.EBUSY)
	r.verbs.ReleaseSends()
	if err := client.Drain(ctx); err != nil {
		t.Fatal(err)
	}
	receives(t, server, "text", "text")
	if err := mem.Close(); err != nil {
		t.Error(err)
	}
}

// TestDrainAfterTheEnd: a connection that has ended flushes what is under way, and
// its regions can be closed.
func TestDrainAfterTheEnd(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	mem, late := alloc(t, client, 64, 0), alloc(t, client, 64, 0)
	r.verbs.HoldSends(client.QP().Number())
	posted(t, client.Send(soon(t), mem.All()), true, context.DeadlineExceeded)
	posted(t, client.Send(soon(t), late.All()), true, context.DeadlineExceeded)
	drained := async(func() (int, error) { return 0, client.Drain(ctx) })
	_ = server.Close()
	waitEnd(t, client)
	if err := late.Close(); err != nil { // there is no connection left to end
		t.Errorf("a region of a connection that has ended: %v", err)
	}
	if _, err := get(t, drained); err != nil {
		t.Errorf("drain: %v", err)
	}
	if a := r.verbs.QPAttr(client.QP().Number()); a.QPState != uint8(abi.IB_QPS_ERR) {
		t.Errorf("the queue pair is in state %v", abi.IBQPState(a.QPState))
	}
	if err := mem.Close(); err != nil {
		t.Error(err)
	}

}

// TestDrainAfterClose: a connection that is closed has nothing under way.
func TestDrainAfterClose(t *testing.T) {
	r := newRig(t)
	ctx := testContext(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	mem := alloc(t, client, 64, 0)
	r.verbs.HoldSends(client.QP().Number())
	posted(t, client.Send(soon(t), mem.All()), true, context.DeadlineExceeded)
	waiting := async(func() (int, error) { return 0, client.Send(ctx, mem.Slice(0, 0)) })
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, waiting); err == nil {
		t.Error("a send beside Close has succeeded")
	}
	if err := client.Drain(ctx); err != nil {
		t.Errorf("after Close: %v", err)
	}
	if err := mem.Close(); err != nil {
		t.Errorf("after Close: %v", err)
	}
}

// TestRefusedWasPosted: what the peer refused has reached it.
func TestRefusedWasPosted(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	err := client.Write(testContext(t), RemoteMemory{Addr: 4096, Len: 64, RKey: 0xdead00}, alloc(t, client, 8, 0).All())
	var oe *OpError
	if !errors.As(err, &oe) || !oe.Posted || !strings.Contains(err.Error(), "write") {
		t.Errorf("a request that the peer refused was posted: %v", err)
	}
}
