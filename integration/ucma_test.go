//go:build linux

package integration

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

func openChannel(t *testing.T) *ucma.Channel {
	t.Helper()
	ch, err := ucma.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ch.Close(); err != nil {
			t.Error(err)
		}
	})
	return ch
}

func createID(t *testing.T, ch *ucma.Channel, uid uint64, ps abi.RDMAUCMPortSpace) uint32 {
	t.Helper()
	id, err := ch.CreateID(uid, ps, uint8(abi.IB_UVERBS_QPT_RC))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func sockaddr(t *testing.T, s string) ucma.Sockaddr {
	t.Helper()
	a, err := ucma.SockaddrFrom(netip.MustParseAddrPort(s))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// event fetches the next event and checks its type.
func event(t *testing.T, ch *ucma.Channel, want abi.RDMACMEventType) ucma.Event {
	t.Helper()
	ev, err := ch.GetEvent(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	if ev.Type != want {
		t.Fatalf("event %v (status %d), want %v", ev.Type, ev.Status, want)
	}
	return ev
}

// TestUcmaProbes: a feature is there exactly when the kernel is new enough.
func TestUcmaProbes(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	want := kernelAtLeast(t, 6, 18)
	for name, f := range map[string]ucma.Feature{"write event": ucma.FeatureWriteEvent, "IB service": ucma.FeatureIBService} {
		got, err := ch.Supports(f)
		if err != nil || got != want {
			t.Errorf("%s: supported %v, %v; want %v", name, got, err, want)
		}
	}
	if v, err := ucma.ABIVersion(); err != nil || v != abi.RDMA_USER_CM_ABI_VERSION {
		t.Errorf("ABI version %d, %v", v, err)
	}
	id := createID(t, ch, 1, abi.RDMA_PS_TCP)
	if err := ch.GetOption(id); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("GET_OPTION: %v", err)
	}
}

// TestUcmaWriteEvent: an injected event arrives as others do (parity scenario 60).
func TestUcmaWriteEvent(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	id := createID(t, ch, 77, abi.RDMA_PS_TCP)
	const arg = 0x0123456789abcdef
	err := ch.WriteEvent(id, abi.RDMA_CM_EVENT_USER, -5, arg)
	if !kernelAtLeast(t, 6, 18) {
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("WRITE_CM_EVENT on an old kernel: %v", err)
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	ev := event(t, ch, abi.RDMA_CM_EVENT_USER)
	if ev.UID != 77 || ev.ID != id || ev.Status != -5 || ev.Arg() != arg {
		t.Errorf("event %+v, argument %#x", ev, ev.Arg())
	}
}

// TestUcmaWaits: GetEvent honours contexts and Close, and loses nothing.
func TestUcmaWaits(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	for range 3 {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		_, err := ch.GetEvent(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("wait with deadline: %v", err)
		}
	}
	if _, err := ch.TryGetEvent(); !errors.Is(err, syscall.EAGAIN) {
		t.Fatalf("TryGetEvent without events: %v", err)
	}
	id := createID(t, ch, 5, abi.RDMA_PS_TCP)
	if err := ch.ResolveAddr(id, ucma.Sockaddr{}, sockaddr(t, addrV4+":7471"), 1000); err != nil {
		t.Fatal(err)
	}
	if ev := event(t, ch, abi.RDMA_CM_EVENT_ADDR_RESOLVED); ev.UID != 5 || ev.ID != id {
		t.Errorf("event of uid %d id %d", ev.UID, ev.ID)
	}
	done := make(chan error, 1)
	go func() {
		_, err := ch.GetEvent(context.Background())
		done <- err
	}()
	time.Sleep(20 * time.Millisecond)
	if err := ch.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, os.ErrClosed) && !strings.Contains(err.Error(), "closed") {
		t.Errorf("wait ended by Close: %v", err)
	}
	if _, err := ch.CreateID(1, abi.RDMA_PS_TCP, 0); err == nil {
		t.Error("command after Close")
	}
}

// TestUcmaQueries compares the ways to ask for addresses and paths.
func TestUcmaQueries(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	for _, addr := range []string{addrV4 + ":7471", "[" + addrV6 + "]:7471"} {
		ch := openChannel(t)
		id := createID(t, ch, 1, abi.RDMA_PS_TCP)
		if err := ch.ResolveAddr(id, ucma.Sockaddr{}, sockaddr(t, addr), 2000); err != nil {
			t.Fatal(err)
		}
		event(t, ch, abi.RDMA_CM_EVENT_ADDR_RESOLVED)
		if err := ch.ResolveRoute(id, 2000); err != nil {
			t.Fatal(err)
		}
		event(t, ch, abi.RDMA_CM_EVENT_ROUTE_RESOLVED)

		route, err := ch.QueryRoute(id)
		if err != nil {
			t.Fatal(err)
		}
		info, err := ch.QueryAddr(id)
		if err != nil {
			t.Fatal(err)
		}
		if route.Dst.String() != addr || info.Dst != route.Dst || info.Src != route.Src || info.Port != 1 || route.Port != 1 ||
			info.NodeGUID != route.NodeGUID || info.DeviceIndex != route.DeviceIndex || route.NumPaths != 1 {
			t.Errorf("%s: QUERY_ROUTE %v -> %v port %d, QUERY ADDR %v -> %v port %d",
				addr, route.Src, route.Dst, route.Port, info.Src, info.Dst, info.Port)
		}
		gids, err := ch.QueryGID(id)
		if err != nil {
			t.Fatal(err)
		}
		if ib, ok := gids.Dst.IB(); !ok || ib.Addr == ([16]byte{}) {
			t.Errorf("%s: QUERY GID answers %v", addr, gids.Dst)
		}
		paths, err := ch.QueryPath(id)
		if err != nil || len(paths) != 1 {
			t.Fatalf("%s: %d paths, %v", addr, len(paths), err)
		}
		if _, err := ch.DestroyID(id); err != nil {
			t.Fatal(err)
		}
	}
}

// TestUcmaWrongState: a command in a wrong state is EINVAL and harms nothing
// (parity scenario 43).
func TestUcmaWrongState(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	id := createID(t, ch, 1, abi.RDMA_PS_TCP)
	param := &ucma.ConnParam{QPNum: 1}
	wrong := map[string]error{
		"RESOLVE_ROUTE": ch.ResolveRoute(id, 100),
		"CONNECT":       ch.Connect(id, param, ucma.ECE{}),
		"ACCEPT":        ch.Accept(id, 1, param, ucma.ECE{}),
		"REJECT":        ch.Reject(id, nil, 0),
		"DISCONNECT":    ch.Disconnect(id),
	}
	for name, err := range wrong {
		if !errors.Is(err, syscall.EINVAL) {
			t.Errorf("%s on an idle ID: %v", name, err)
		}
	}
	if err := ch.Bind(id, sockaddr(t, addrV4+":0")); err != nil {
		t.Fatalf("the ID is of no more use: %v", err)
	}
	if err := ch.Bind(id, sockaddr(t, addrV4+":0")); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("second BIND: %v", err)
	}
	if _, err := ch.DestroyID(id + 1000); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("unknown ID: %v", err)
	}
}

// TestUcmaLegacy: the older commands for IP addresses.
func TestUcmaLegacy(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	id := createID(t, ch, 1, abi.RDMA_PS_TCP)
	if err := ch.BindIP(id, sockaddr(t, addrV4+":0")); err != nil {
		t.Fatal(err)
	}
	if err := ch.ResolveIP(id, ucma.Sockaddr{}, sockaddr(t, addrV4+":7471"), 2000); err != nil {
		t.Fatal(err)
	}
	event(t, ch, abi.RDMA_CM_EVENT_ADDR_RESOLVED)
}

// TestUcmaOptions sets each option in a state that allows it.
func TestUcmaOptions(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	id := createID(t, ch, 1, abi.RDMA_PS_TCP)
	for name, err := range map[string]error{
		"TOS": ch.SetTOS(id, 0x20), "reuse": ch.SetReuseAddr(id, true),
		"AF only": ch.SetAFOnly(id, true), "ACK timeout": ch.SetACKTimeout(id, 21),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := ch.SetOption(id, abi.RDMA_OPTION_ID, 99, []byte{1}); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("unknown option: %v", err)
	}
	if err := ch.SetOption(id, abi.RDMA_OPTION_ID, abi.RDMA_OPTION_ID_TOS, []byte{1, 2}); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("wrong length: %v", err)
	}
}

// TestUcmaMigrate moves an ID with a pending event to another channel.
func TestUcmaMigrate(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	from, to := openChannel(t), openChannel(t)
	id := createID(t, from, 9, abi.RDMA_PS_TCP)
	if err := from.ResolveAddr(id, ucma.Sockaddr{}, sockaddr(t, addrV4+":7471"), 2000); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond)
	if _, err := to.MigrateID(from, id); err != nil {
		t.Fatal(err)
	}
	if ev := event(t, to, abi.RDMA_CM_EVENT_ADDR_RESOLVED); ev.UID != 9 {
		t.Errorf("event of uid %d", ev.UID)
	}
	if ev, err := from.TryGetEvent(); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("event %v on the old channel, %v", ev, err)
	}
	if err := from.ResolveRoute(id, 100); !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOENT) {
		t.Errorf("command on the old channel: %v", err)
	}
	if err := to.ResolveRoute(id, 1000); err != nil {
		t.Error(err)
	}
}

// TestUcmaMulticast joins and leaves a group on a datagram ID.
func TestUcmaMulticast(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	id := createID(t, ch, 1, abi.RDMA_PS_UDP)
	if err := ch.Bind(id, sockaddr(t, addrV4+":0")); err != nil {
		t.Fatal(err)
	}
	mc, err := ch.JoinMulticast(id, 500, sockaddr(t, "239.1.2.3:0"), abi.RDMA_MC_JOIN_FLAG_FULLMEMBER)
	if err != nil {
		t.Fatal(err)
	}
	ev := event(t, ch, abi.RDMA_CM_EVENT_MULTICAST_JOIN)
	if ev.UID != 500 || ev.ID != mc || ev.UD().QPNum != 0xffffff {
		t.Errorf("join event %+v, UD %+v", ev, ev.UD())
	}
	if _, err := ch.LeaveMulticast(mc); err != nil {
		t.Error(err)
	}
	mc, err = ch.JoinIPMulticast(id, 501, sockaddr(t, "239.1.2.3:0"))
	if err != nil {
		t.Fatal(err)
	}
	event(t, ch, abi.RDMA_CM_EVENT_MULTICAST_JOIN)
	if _, err := ch.LeaveMulticast(mc); err != nil {
		t.Error(err)
	}
}

// TestUcmaManyThreads: commands from many threads at once all work, as long
// as the credentials stay.
func TestUcmaManyThreads(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	ch := openChannel(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for range 50 {
				id, err := ch.CreateID(uint64(i), abi.RDMA_PS_TCP, 0)
				if err == nil {
					_, err = ch.DestroyID(id)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestUcmaCredentials: after a change of credentials commands are refused with
// an error that says so (parity scenario 60).
func TestUcmaCredentials(t *testing.T) {
	requireRDMA(t)
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChildChangesCredentials$", "-test.v")
	cmd.Env = append(os.Environ(), "RDMA_CHILD_SETUID=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestChildChangesCredentials runs in a process of its own.
func TestChildChangesCredentials(t *testing.T) {
	if os.Getenv("RDMA_CHILD_SETUID") == "" {
		return // nobody's child
	}
	ch, err := ucma.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setuid(65534); err != nil {
		t.Fatal(err)
	}
	_, err = ch.CreateID(1, abi.RDMA_PS_TCP, 0)
	if !errors.Is(err, ucma.ErrCredentialsChanged) || !errors.Is(err, unix.EACCES) {
		t.Fatalf("command after setuid: %v", err)
	}
}
