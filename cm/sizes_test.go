package cm

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestSharedQueueSizes: each further queue is larger, up to a limit, however many
// there are.
func TestSharedQueueSizes(t *testing.T) {
	for _, tc := range []struct{ queues, requests, most, want int }{
		{0, 32, 1 << 22, 1 << 10}, {1, 32, 1 << 22, 1 << 12}, {2, 32, 1 << 22, 1 << 14},
		{3, 32, 1 << 22, 1 << 14}, {27, 32, 1 << 22, 1 << 14}, {64, 32, 1 << 22, 1 << 14}, {1 << 30, 32, 1 << 22, 1 << 14},
		{2, 32, 5000, 5000}, {0, 3000, 1 << 22, 3000}, {2, 1 << 15, 1 << 22, 1 << 15}, {1, 9000, 5000, 9000},
	} {
		if got := nextCQ(tc.queues, tc.requests, tc.most); got != tc.want {
			t.Errorf("beside %d queues, for %d requests, at most %d: %d entries, want %d", tc.queues, tc.requests, tc.most, got, tc.want)
		}
	}
}

// TestLongestMessage: what is said to fit fits, and one byte more is refused, with
// the limit that is true.
func TestLongestMessage(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	whole := alloc(t, client, 4096, 0).All()
	var s sendSlot
	s.sges = make([]uverbs.SGE, 0, 4)
	long := func(n int) Slice { sl := whole; sl.n = n; return sl }
	if n, err := client.gather(&s, []Slice{long(1 << 30), long(1<<30 - 1)}); err != nil || n != maxMessage {
		t.Errorf("the longest message: %d, %v", n, err)
	}
	s.leaveRegions()
	s.sges = s.sges[:0]
	_, err := client.gather(&s, []Slice{long(1 << 30), long(1 << 30)})
	if !errors.Is(err, syscall.EMSGSIZE) || !strings.Contains(err.Error(), "at most 2147483647 ") {
		t.Errorf("one byte more: %v", err)
	}
	s.leaveRegions()
}

// TestMessageBuffersFit: sizes that are allowed one by one make a product that is
// not, instead of one that wraps around.
func TestMessageBuffersFit(t *testing.T) {
	for _, tc := range []struct {
		cfg Config
		ok  bool
	}{
		{Config{SendDepth: 1 << 9, RecvDepth: 1 << 9, RecvSize: 1 << 30}, true},
		{Config{SendDepth: 1<<9 + 1, RecvDepth: 1 << 9, RecvSize: 1 << 30}, false},
		{Config{SendDepth: 1 << 20, RecvDepth: 1 << 20, RecvSize: 1 << 30}, false},
	} {
		_, err := tc.cfg.resolved()
		if tc.ok != (err == nil) || err != nil && !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%+v: %v", tc.cfg, err)
		}
	}
}

// TestBacklogIsNotCut: a backlog that is larger than the kernel's int is the
// largest, not its lower half.
func TestBacklogIsNotCut(t *testing.T) {
	r := newRig(t)
	id, err := NewID(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer id.Close()
	if err := id.Bind(sockaddr(t, serverAddr.String())); err != nil {
		t.Fatal(err)
	}
	long := int64(math.MaxUint32 + 2) // whose lower half is 1
	if strconv.IntSize == 32 {
		t.Skip("no int is that long")
	}
	if err := id.Listen(int(long)); err != nil {
		t.Fatal(err)
	}
	owned, _ := r.cm.Handles()
	if got := r.cm.Backlog(owned[0]); got != 1024 {
		t.Errorf("the kernel's backlog is %d, want its largest", got)
	}
}

// TestHandlesBehindSlot255: a GID that no path can name is not tried under
// another's number.
func TestHandlesBehindSlot255(t *testing.T) {
	r := newRig(t)
	r.verbs.FirstGIDs = append(r.verbs.FirstGIDs, fakeverbs.GIDEntry(256+1, 0xfd00, 9)) // 8 bits of it are slot 1, which is empty
	r.verbs.MaxAH = 100
	ctx, err := uverbs.OpenOn(r.verbs, &uverbs.Device{Name: "rxe0", CharDev: uverbs.CharDev{Path: fakeverbs.Path, ABIVersion: 2}, DriverID: abi.RDMA_DRIVER_RXE}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer ctx.Close()
	before := len(r.verbs.Calls())
	if lacksHandle(ctx, 1) {
		t.Error("the device has handles")
	}
	for _, call := range r.verbs.Calls()[before:] {
		if call == "CREATE_AH" {
			t.Error("a handle was made from a slot that is not the GID's")
		}
	}
}
