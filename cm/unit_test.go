package cm

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

func TestTimeoutMs(t *testing.T) {
	if got := timeoutMs(context.Background()); got != 5000 {
		t.Errorf("without deadline: %d ms", got)
	}
	for _, tc := range []struct {
		d        time.Duration
		min, max uint32
	}{
		{2 * time.Second, 2900, 3000}, {-time.Hour, 1, 1}, {1000 * time.Hour, 3600000, 3600000}, {-time.Second, 1, 1},
	} {
		ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(tc.d))
		if got := timeoutMs(ctx); got < tc.min || got > tc.max {
			t.Errorf("%v: %d ms", tc.d, got)
		}
		cancel()
	}
}

func TestCheckAddr(t *testing.T) {
	for _, tc := range []struct {
		ip   string
		want error
	}{
		{"10.0.0.1", nil}, {"0.0.0.0", nil}, {"::", nil}, {"fe80::1%5", nil}, {"169.254.0.1", nil}, {"fd00::1", nil},
		{"127.0.0.1", ErrLoopback}, {"127.9.9.9", ErrLoopback}, {"::1", ErrLoopback}, {"::ffff:127.0.0.1", ErrLoopback},
		{"fe80::1", syscall.EINVAL},
	} {
		err := checkAddr(netip.MustParseAddr(tc.ip))
		if tc.want == nil && err != nil {
			t.Errorf("%s: %v", tc.ip, err)
		}
		if tc.want != nil {
			wants(t, err, tc.want)
			wantsText(t, err, tc.ip)
		}
	}
}

func TestIsLocal(t *testing.T) {
	if !isLocal(netip.MustParseAddr("127.0.0.1")) || !isLocal(netip.MustParseAddr("::ffff:127.0.0.1")) || isLocal(netip.MustParseAddr("192.0.2.1")) {
		t.Error("127.0.0.1 is here and 192.0.2.1 is not")
	}
}

func TestAddrOf(t *testing.T) {
	if a := addrOf(ucma.Sockaddr{}); a != nil {
		t.Errorf("no address became %v", a)
	}
	if a := addrOf(sockaddr(t, "10.0.0.1:5")); a.String() != "10.0.0.1:5" || a.Network() != "rdma" {
		t.Errorf("got %v", a)
	}
}

// TestReads: what both sides and the device allow.
func TestReads(t *testing.T) {
	for _, tc := range []struct {
		name          string
		cfg           Config
		dev           *device
		peer          *ucma.ConnParam
		local, served uint8
	}{
		{"device limits", Config{LocalReads: 16, PeerReads: 16}, &device{maxInitiate: 4, maxServe: 8}, nil, 4, 8},
		{"configured", Config{LocalReads: 2, PeerReads: 3}, &device{maxInitiate: 4, maxServe: 8}, nil, 2, 3},
		{"none", Config{}, &device{maxInitiate: 4, maxServe: 8}, nil, 0, 0},
		{"peer serves less", Config{LocalReads: 16, PeerReads: 16}, &device{maxInitiate: 16, maxServe: 16},
			&ucma.ConnParam{InitiatorDepth: 1, ResponderResources: 2}, 1, 2},
		{"peer asks for more", Config{LocalReads: 4, PeerReads: 4}, &device{maxInitiate: 16, maxServe: 16},
			&ucma.ConnParam{InitiatorDepth: 255, ResponderResources: 255}, 4, 4},
	} {
		c := &Conn{cfg: tc.cfg, dev: tc.dev}
		if local, served := c.reads(tc.peer); local != tc.local || served != tc.served {
			t.Errorf("%s: %d and %d", tc.name, local, served)
		}
	}
}

// TestRegionSlices: bounds are checked as slicing does.
func TestRegionSlices(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	reg := alloc(t, client, 100, RemoteRead)
	if reg.Len() != 100 || len(reg.Bytes()) != 100 || cap(reg.Bytes()) != 100 || reg.All().Len() != 100 {
		t.Errorf("length %d, %d bytes", reg.Len(), len(reg.Bytes()))
	}
	s := reg.Slice(90, 10)
	s.Bytes()[0] = 5
	if reg.Bytes()[90] != 5 || cap(s.Bytes()) != 10 || s.Len() != 10 {
		t.Error("the slice is other memory")
	}
	want := reg.Remote()
	want.Addr, want.Len = want.Addr+90, 10
	if s.Remote() != want || want.Access != RemoteRead || want.RKey == 0 {
		t.Errorf("remote %+v, want %+v", s.Remote(), want)
	}
	var zero Slice
	if zero.Bytes() != nil || zero.Len() != 0 || zero.Remote() != (RemoteMemory{}) {
		t.Error("the zero slice is not empty")
	}
	const maxInt = int(^uint(0) >> 1)
	for _, b := range [][2]int{{-1, 1}, {0, -1}, {0, 101}, {101, 0}, {maxInt, 1}, {1, maxInt}, {maxInt, maxInt}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("slice [%d:+%d] does not panic", b[0], b[1])
				}
			}()
			reg.Slice(b[0], b[1])
		}()
	}
	if reg.Slice(100, 0).Len() != 0 {
		t.Error("an empty slice at the end")
	}
}

// TestHostileCompletions: slot numbers come out of memory that the kernel
// shares, and are not believed.
func TestHostileCompletions(t *testing.T) {
	var q sendQueue
	q.init(0, 2, 1)
	for _, id := range []uint64{2, 1 << 31, operation} {
		q.complete(&uverbs.WC{ID: id})
	}
	for range 3 { // more completions than were posted
		q.complete(&uverbs.WC{ID: 1})
	}
	if len(q.slots[0].done) != 0 || len(q.slots[1].done) != 1 || len(q.free) != 2 {
		t.Errorf("%d and %d completions, %d free", len(q.slots[0].done), len(q.slots[1].done), len(q.free))
	}
	var r recvQueue
	r.init(0, 2, 10, nil)
	for _, id := range []uint64{recvBit | 2, recvBit | 1<<31} {
		r.complete(&uverbs.WC{ID: id})
	}
	r.complete(&uverbs.WC{ID: recvBit, Status: abi.IB_WC_WR_FLUSH_ERR})
	if len(r.ready) != 0 {
		t.Errorf("%d messages", len(r.ready))
	}
	for range 5 {
		r.complete(&uverbs.WC{ID: recvBit | 1})
	}
	if len(r.ready) != 2 {
		t.Errorf("%d messages in a queue of 2", len(r.ready))
	}
}

// TestHostileLength: a completion that claims more bytes than were posted.
func TestHostileLength(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(nil), &Dialer{Config: quick})
	m, err := client.message(received{slot: 1, wc: uverbs.WC{ByteLen: 1 << 31}})
	if err != nil || len(m.Data) != 4096 {
		t.Fatalf("%v, %v", m, err)
	}
	m.released.Store(true) // it was never received
	if err := client.takeBack(); err != nil {
		t.Error(err)
	}
}

// TestAbandonedSlot: the slot of an operation that nobody waits for is free
// again when its completion arrives.
func TestAbandonedSlot(t *testing.T) {
	var q sendQueue
	q.init(0, 1, 1)
	i := <-q.free
	if !q.abandon(&q.slots[i]) {
		t.Fatal("completed already")
	}
	q.complete(&uverbs.WC{ID: uint64(i)})
	if len(q.free) != 1 || len(q.slots[i].done) != 0 {
		t.Errorf("%d free", len(q.free))
	}
	<-q.free
	q.complete(&uverbs.WC{ID: uint64(i)})
	if q.abandon(&q.slots[i]) {
		t.Error("abandoned although it has completed")
	}
}

func TestPrivateDataLimit(t *testing.T) {
	if err := checkPrivateData(OpConnect, make([]byte, 56), 56, "RoCE"); err != nil {
		t.Error(err)
	}
	err := checkPrivateData(OpConnect, make([]byte, 57), 56, "RoCE")
	wants(t, err, syscall.EINVAL)
	if want := "private data of 57 bytes: connect over RoCE takes at most 56"; !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	r := newRig(t)
	var calls atomic.Int32 // a query is no harm: iWARP has more room
	r.cm.After = func(c fakecm.Call) {
		if c.Op == "write" && c.Cmd != abi.RDMA_USER_CM_CMD_QUERY && c.Cmd != abi.RDMA_USER_CM_CMD_GET_EVENT {
			calls.Add(1)
		}
	}
	id := r.newID()
	calls.Store(0)
	_, err = id.Connect(testContext(t), &ucma.ConnParam{PrivateData: make([]byte, MaxConnectData+1)}, ucma.ECE{})
	wants(t, err, syscall.EINVAL)
	wants(t, id.Accept(&ucma.ConnParam{PrivateData: make([]byte, MaxAcceptData+1)}, ucma.ECE{}), syscall.EINVAL)
	wants(t, id.Reject(make([]byte, MaxRejectData+1)), syscall.EINVAL)
	if n := calls.Load(); n != 0 {
		t.Errorf("%d calls", n)
	}
}

// TestTooLong: a length that the device's field cannot hold is refused.
func TestTooLong(t *testing.T) {
	c := &Conn{}
	long := int64(1<<32 + 8)
	if strconv.IntSize == 32 {
		t.Skip("no slice is that long")
	}
	big := Slice{r: &Region{owner: &c.regions}, n: int(long)}
	_, err := c.gather(&sendSlot{sges: make([]uverbs.SGE, 0, 4)}, []Slice{big})
	wants(t, err, syscall.EMSGSIZE)
}

// TestNodeGUID: the device is found by its GUID where the index is unknown.
func TestNodeGUID(t *testing.T) {
	newRig(t)
	byIndex, byGUID := host.deviceByIndex, host.deviceByGUID
	dev, err := byIndex(1)
	if err != nil {
		t.Fatal(err)
	}
	host.deviceByIndex = func(int) (*uverbs.Device, error) { return nil, uverbs.ErrNoDevice }
	host.deviceByGUID = func(g uverbs.GUID) (*uverbs.Device, error) {
		if g != uverbs.GUIDFromBytes([8]byte{1, 2, 3, 4, 5, 6, 7, 8}) {
			return byGUID(g)
		}
		return dev, nil
	}
	route := &ucma.Route{NodeGUID: binary.NativeEndian.Uint64([]byte{1, 2, 3, 4, 5, 6, 7, 8}), Port: 1, DeviceIndex: 7}
	if got, err := findDevice(route); err != nil || got != dev {
		t.Errorf("got %v, %v", got, err)
	}
	route.NodeGUID++
	_, err = findDevice(route)
	wants(t, err, uverbs.ErrNoDevice)
	_, err = acquireDevice("", &ucma.Route{})
	wants(t, err, ErrNoDevice)
}
