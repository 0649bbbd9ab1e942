package ucma

import (
	"bytes"
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/fakecm"
)

// eventRaw is struct rdma_ucm_event_resp of a reject with private data and ECE.
func eventRaw() []byte {
	return lay(336, append(connParam(20, 0), field{0, uint64(1 << 40)}, field{8, uint32(9)}, field{12, uint32(8)}, field{16, uint32(28)},
		field{328, uint32(0x15b3)}, field{332, uint32(2)})...)
}

var wantEvent = []any{uint64(1 << 40), uint32(9), abi.RDMA_CM_EVENT_REJECTED, int32(28), ECE{VendorID: 0x15b3, AttrMod: 2}, testParam}

func eventSummary(e *Event) []any { return []any{e.UID, e.ID, e.Type, e.Status, e.ECE, e.Conn()} }

func TestDecodeEvent(t *testing.T) {
	t.Run("before kernel 5.8", func(t *testing.T) {
		e, err := decodeEvent(eventRaw()[:324])
		if err != nil {
			t.Fatal(err)
		}
		want := append([]any(nil), wantEvent...)
		want[4] = ECE{}
		if diff := cmp.Diff(want, eventSummary(e)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("short", func(t *testing.T) {
		if _, err := decodeEvent(eventRaw()[:323]); !errors.Is(err, syscall.EIO) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("unknown type passes", func(t *testing.T) {
		e, err := decodeEvent(lay(336, field{12, uint32(4711)}, field{16, uint32(0x80000000)}))
		if err != nil || e.Type != 4711 || e.Status != -1<<31 {
			t.Errorf("got %+v, %v", e, err)
		}
	})
	t.Run("datagram", func(t *testing.T) {
		// struct rdma_ucm_ud_param: qpn, qkey, ah_attr of 32 bytes with the
		// GID first, 256 bytes of data, the length.
		raw := lay(336, field{20, uint32(0xffffff)}, field{24, uint32(0x01234567)}, field{28, fill(16, 0xee)}, field{60, []byte("group")}, field{316, uint8(5)})
		e, err := decodeEvent(raw)
		if err != nil {
			t.Fatal(err)
		}
		ud := e.UD()
		if ud.QPNum != 0xffffff || ud.QKey != 0x01234567 || string(ud.PrivateData) != "group" || !bytes.Equal(ud.AHAttr.GRH.Dgid[:], fill(16, 0xee)) {
			t.Errorf("got %+v", ud)
		}
	})
	t.Run("argument", func(t *testing.T) {
		// ucma_write_cm_event copies the 64 bits into two words.
		e, err := decodeEvent(lay(336, field{12, uint32(18)}, field{20, uint64(0x1122334455667788)}))
		if err != nil || e.Arg() != 0x1122334455667788 {
			t.Errorf("got %#x, %v", e.Arg(), err)
		}
	})
	t.Run("no private data", func(t *testing.T) {
		e, err := decodeEvent(lay(336))
		if err != nil || e.Conn().PrivateData != nil || e.UD().PrivateData != nil {
			t.Errorf("got %+v, %v", e.Conn(), err)
		}
	})
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add(eventRaw())
	f.Add(eventRaw()[:324])
	f.Add(fill(336, 0xff))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := decodeEvent(b)
		if (err == nil) != (len(b) >= 324) {
			t.Fatalf("%d bytes: %v", len(b), err)
		}
		if err != nil {
			return
		}
		if e.UID != host.Uint64(b) || e.ID != host.Uint32(b[8:]) || uint32(e.Type) != host.Uint32(b[12:]) || uint32(e.Status) != host.Uint32(b[16:]) {
			t.Errorf("decoded %+v", e)
		}
		if n := len(e.Conn().PrivateData); n != int(b[284]) {
			t.Errorf("%d bytes of private data, kernel said %d", n, b[284])
		}
		if n := len(e.UD().PrivateData); n != int(b[316]) {
			t.Errorf("%d bytes of datagram data, kernel said %d", n, b[316])
		}
		_ = e.Arg()
	})
}

// fake returns a channel on a fake connection manager, and one ID with a uid
// on it to inject events for.
func fake(t *testing.T, k *fakecm.Kernel) (*Channel, uint32) {
	t.Helper()
	c := openOn(t, k)
	id, err := c.CreateID(1, abi.RDMA_PS_TCP, 2)
	if err != nil {
		t.Fatal(err)
	}
	return c, id
}

func TestGetEventWaits(t *testing.T) {
	k := new(fakecm.Kernel)
	tried := make(chan struct{}, 1)
	k.Before = func(call fakecm.Call) error {
		if call.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT {
			select {
			case tried <- struct{}{}:
			default:
			}
		}
		return nil
	}
	c, id := fake(t, k)
	done := make(chan error, 1)
	var got Event
	go func() {
		var err error
		got, err = c.GetEvent(t.Context())
		done <- err
	}()
	<-tried
	k.InjectType(id, abi.RDMA_CM_EVENT_ADDR_CHANGE, 0)
	if err := <-done; err != nil || got.Type != abi.RDMA_CM_EVENT_ADDR_CHANGE || got.UID != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestTryGetEventEmpty(t *testing.T) {
	c, _ := fake(t, new(fakecm.Kernel))
	if _, err := c.TryGetEvent(); !errors.Is(err, syscall.EAGAIN) {
		t.Errorf("got %v", err)
	}
}

func TestGetEventContext(t *testing.T) {
	k := new(fakecm.Kernel)
	c, id := fake(t, k)
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := c.GetEvent(ctx)
	var e *Error
	if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || !e.Timeout() {
		t.Errorf("deadline: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	cancel()
	if _, err := c.GetEvent(ctx); !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Timeout() {
		t.Errorf("cancel: %v", err)
	}
	k.InjectType(id, abi.RDMA_CM_EVENT_ADDR_CHANGE, 0)
	if _, err := c.GetEvent(t.Context()); err != nil {
		t.Errorf("wait after a cancelled one: %v", err)
	}
}

func TestGetEventClosed(t *testing.T) {
	k := new(fakecm.Kernel)
	c, _ := fake(t, k)
	const n = 4
	done := make(chan error, n)
	for range n {
		go func() { _, err := c.GetEvent(context.Background()); done <- err }()
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	for range n {
		if err := <-done; !errors.Is(err, net.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
	if err := c.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if left := k.Left(); left.Files != 0 || left.IDs != 0 {
		t.Errorf("left: %+v", left)
	}
}

// TestGetEventConcurrent: each event goes to one caller, whatever the caller's
// contexts do, and whatever spurious EAGAINs there are.
func TestGetEventConcurrent(t *testing.T) {
	k := new(fakecm.Kernel)
	var storm atomic.Int64
	k.Before = func(call fakecm.Call) error {
		if call.Cmd == abi.RDMA_USER_CM_CMD_GET_EVENT && storm.Add(1)%3 == 0 {
			return syscall.EAGAIN
		}
		return nil
	}
	c, id := fake(t, k)
	const events, callers = 300, 4
	var mu sync.Mutex
	seen := map[int32]int{}
	var wg sync.WaitGroup
	stop, cancelAll := context.WithTimeout(t.Context(), time.Minute)
	defer cancelAll()
	for range callers {
		wg.Go(func() {
			for stop.Err() == nil {
				ctx, cancel := context.WithTimeout(stop, time.Duration(50+storm.Load()%100)*time.Microsecond)
				e, err := c.GetEvent(ctx)
				cancel()
				if err != nil {
					continue
				}
				mu.Lock()
				if seen[e.Status]++; len(seen) == events {
					cancelAll()
				}
				mu.Unlock()
			}
		})
	}
	for i := range int32(events) {
		k.InjectType(id, abi.RDMA_CM_EVENT_USER, i)
	}
	wg.Wait()
	for s, n := range seen {
		if n != 1 {
			t.Errorf("event %d seen %d times", s, n)
		}
	}
	if len(seen) != events {
		t.Errorf("%d events of %d", len(seen), events)
	}
}

func TestGetEventShortWrite(t *testing.T) {
	k := new(fakecm.Kernel)
	c, id := fake(t, k)
	k.InjectType(id, abi.RDMA_CM_EVENT_USER, 0)
	k.Before = func(fakecm.Call) error { return fakecm.ErrShort }
	if _, err := c.GetEvent(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Errorf("GetEvent: %v", err)
	}
	if _, err := c.TryGetEvent(); !errors.Is(err, syscall.EIO) {
		t.Errorf("TryGetEvent: %v", err)
	}
}

func TestWriteEvent(t *testing.T) {
	c, id := fake(t, new(fakecm.Kernel))
	if err := c.WriteEvent(id, abi.RDMA_CM_EVENT_USER, -3, 1<<63|5); err != nil {
		t.Fatal(err)
	}
	e, err := c.GetEvent(t.Context())
	if err != nil || e.Type != abi.RDMA_CM_EVENT_USER || e.Status != -3 || e.Arg() != 1<<63|5 {
		t.Errorf("got %+v, %v", e, err)
	}
}

func TestSupports(t *testing.T) {
	for _, f := range []Feature{FeatureWriteEvent, FeatureIBService} {
		for _, old := range []bool{false, true} {
			c := openOn(t, &fakecm.Kernel{Old: old})
			if ok, err := c.Supports(f); err != nil || ok == old {
				t.Errorf("feature %d, old kernel %v: %v, %v", f, old, ok, err)
			}
		}
		c := openOn(t, &fakecm.Kernel{Before: func(call fakecm.Call) error {
			if call.Op == "write" {
				return syscall.EACCES
			}
			return nil
		}})
		if ok, err := c.Supports(f); ok || !errors.Is(err, devfile.ErrCredentialsChanged) {
			t.Errorf("feature %d without permission: %v, %v", f, ok, err)
		}
	}
	if _, err := openOn(t, new(fakecm.Kernel)).Supports(99); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("unknown feature: %v", err)
	}
}
