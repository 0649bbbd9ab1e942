package cm

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// TestSecondLookAfterArming: a completion that comes between the look and the arming
// raises no event, so that whoever sleeps then would sleep for ever.
func TestSecondLookAfterArming(t *testing.T) {
	r := newRig(t)
	own := *quick
	own.PrivateCQ = true
	client, server := r.pair(r.listen(&ListenConfig{Config: &own}), &Dialer{Config: &own})
	ctx := testContext(t)
	r.verbs.HoldSends(client.QP().Number())
	sent := async(func() (int, error) { return 0, client.SendCopy(ctx, []byte("x")) })
	for r.verbs.Queued(client.QP().Number()) == 0 {
		time.Sleep(time.Millisecond)
	}
	q := server.cq
	q.mu.Lock()
	q.armed = false
	r.verbs.OnNotify = r.verbs.ReleaseSends
	q.pumpLocked(true)
	r.verbs.OnNotify = nil
	q.mu.Unlock()
	if n := len(server.recvs.ready); n != 1 {
		t.Errorf("%d messages are seen after arming", n)
	}
	if _, err := get(t, sent); err != nil {
		t.Error(err)
	}
}

// TestCloseTimeout: Close waits for a silent peer's confirmation as long as it was
// told, which is neither the default nor for ever.
func TestCloseTimeout(t *testing.T) {
	for _, tc := range []struct{ set, byDefault, least time.Duration }{
		{-1, time.Hour, 0},
		{50 * time.Millisecond, time.Hour, 50 * time.Millisecond},
		{0, 60 * time.Millisecond, 60 * time.Millisecond},
		{100 * time.Millisecond, time.Nanosecond, 100 * time.Millisecond},
	} {
		t.Run(tc.set.String(), func(t *testing.T) {
			closeWithin = tc.byDefault
			t.Cleanup(func() { closeWithin = time.Second })
			r := newRig(t)
			client, _ := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: &Config{CloseTimeout: tc.set}})
			r.cm.Mute(abi.RDMA_USER_CM_CMD_DISCONNECT)
			start := time.Now()
			if _, err := get(t, async(func() (int, error) { return 0, client.Close() })); err != nil {
				t.Error(err)
			}
			if took := time.Since(start); took < tc.least {
				t.Errorf("took %v, want at least %v", took, tc.least)
			}
			r.cm.Unmute()
		})
	}
}

// TestTOSReachesTheKernel: the dialer's type of service is set, before the route is
// resolved, and not set when it is 0.
func TestTOSReachesTheKernel(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	client, _ := r.pair(l, &Dialer{TOS: 0x68, Config: quick})
	if a, err := client.QP().Query(); err != nil || a.AH.TrafficClass != 0x68 {
		t.Errorf("traffic class %#x, %v", a.AH.TrafficClass, err)
	}
	set := func() (n int) {
		for _, o := range r.cm.Options() {
			if o.Level == abi.RDMA_OPTION_ID && o.Name == abi.RDMA_OPTION_ID_TOS {
				n++
			}
		}
		return n
	}
	before := set()
	if before != 1 {
		t.Errorf("set %d times", before)
	}
	r.pair(l, &Dialer{Config: quick})
	if set() != before {
		t.Error("set although it is 0")
	}
}

// TestDeviceLimitOfQueues: the shared queue is no larger than the device allows.
func TestDeviceLimitOfQueues(t *testing.T) {
	r := newRig(t)
	r.verbs.MaxCQE = 500
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	if n := client.cq.cq.Entries(); n < 64 || n > 511 { // the next power of two
		t.Errorf("%d entries, the device allows 500", n)
	}
}

// TestRequestWithoutDevice: a request that cannot be accepted leaves no ID behind.
func TestRequestWithoutDevice(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	ctx := testContext(t)
	id := r.newID()
	defer id.Close()
	if err := errors.Join(id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(t, serverAddr.String())), id.ResolveRoute(ctx)); err != nil {
		t.Fatal(err)
	}
	dialed := async(func() (int, error) {
		_, err := id.Connect(ctx, &ucma.ConnParam{QPNum: 1}, ucma.ECE{})
		return 0, err
	})
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	index := r.device.Index
	r.device.Index = -1 // gone
	_, err = req.Accept(ctx, nil)
	wants(t, err, uverbs.ErrNoDevice)
	wantsText(t, err, stepOpenDevice)
	r.device.Index = index
	if _, requests := r.cm.Handles(); len(requests) != 0 {
		t.Errorf("the request's IDs %v are left", requests)
	}
	if _, err := get(t, dialed); err == nil {
		t.Error("the peer was not told")
	}
	if err := req.Close(); err != nil {
		t.Error(err)
	}
}

// TestOverflowIsOnesOwn: an ID whose events repeat loses its own older ones, and no
// other ID's.
func TestOverflowIsOnesOwn(t *testing.T) {
	var q queue
	one, two := &ID{}, &ID{}
	push := func(id *ID, typ abi.RDMACMEventType, n int) int {
		_, dropped := q.push(&entry{Event: &ucma.Event{Type: typ, Status: int32(n)}, id: id})
		return dropped
	}
	push(two, abi.RDMA_CM_EVENT_UNREACHABLE, 100)
	push(one, abi.RDMA_CM_EVENT_ESTABLISHED, 200)
	dropped := 0
	for n := range maxRepeated + 3 {
		dropped += push(one, abi.RDMA_CM_EVENT_ADDR_CHANGE, n)
	}
	if dropped != 3 || len(q) != maxRepeated+2 {
		t.Errorf("%d dropped, %d left", dropped, len(q))
	}
	if q[0].id != two || q[0].Status != 100 || q[1].Type != abi.RDMA_CM_EVENT_ESTABLISHED {
		t.Errorf("another ID's event, or one that does not repeat, was dropped: %+v, %+v", q[0], q[1])
	}
	for i, e := range q[2:] {
		if int(e.Status) != i+3 || e.id != one {
			t.Errorf("event %d is %d of its kind", i, e.Status)
		}
	}
	push(two, abi.RDMA_CM_EVENT_UNREACHABLE, 101)
	if n := q.count(two, repeats); n != 2 {
		t.Errorf("the other ID has %d events", n)
	}
}

// TestAbandonedSlotIsFreedOnce: the completion that comes late frees the slot, and no
// other one does.
func TestAbandonedSlotIsFreedOnce(t *testing.T) {
	var q sendQueue
	q.init(0, 2, 1)
	first := <-q.free
	s := &q.slots[first]
	if !q.abandon(s) {
		t.Fatal("not abandoned")
	}
	for range 3 {
		q.complete(&uverbs.WC{ID: uint64(first)})
	}
	if n := len(q.free); n != 2 {
		t.Errorf("%d of 2 slots are free", n)
	}
	a, b := <-q.free, <-q.free
	if a == b {
		t.Errorf("slot %d is free twice", a)
	}
}

// TestQueuePairRefused: what a dial leaves whose objects the kernel refuses is nothing
// but the device, and the cause is named.
func TestQueuePairRefused(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	for _, call := range []string{"QP_CREATE", "REG_MR", "CQ_CREATE", "ALLOC_PD"} {
		r.verbs.FailNamed(call, syscall.ENOMEM)
		ctx := testContext(t)
		_, err := (&Dialer{Config: quick}).DialAddr(ctx, serverAddr)
		if !errors.Is(err, syscall.ENOMEM) || !strings.Contains(err.Error(), serverAddr.String()) {
			t.Errorf("%s: %v", call, err)
		}
		for _, o := range r.verbs.Survivors() {
			if !strings.HasPrefix(o, "file") && !strings.HasPrefix(o, "*fakeverbs.cq") && !strings.HasPrefix(o, "mapping") {
				t.Errorf("after a failed %s: %s", call, o)
			}
		}
	}
	_ = l
}
