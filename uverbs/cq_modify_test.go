//go:build linux

package uverbs_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// pollIDs takes all completions and checks that they are those of first to last.
func (r *rig) pollIDs(t *testing.T, first, last uint64) {
	t.Helper()
	wcs := make([]uverbs.WC, last-first+2)
	n, err := r.cq.Poll(wcs)
	if err != nil || n != int(last-first+1) {
		t.Fatalf("%d completions, %v; want %d", n, err, last-first+1)
	}
	for i, wc := range wcs[:n] {
		if wc.ID != first+uint64(i) {
			t.Errorf("completion %d has id %d, want %d", i, wc.ID, first+uint64(i))
		}
	}
}

func (r *rig) post(t *testing.T, first, last uint64) {
	t.Helper()
	for id := first; id <= last; id++ {
		if err := r.qp.PostSend(signaled(id)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCQResize(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		event := make(chan struct{}, 1)
		r := mustBuild(t, c, func() { event <- struct{}{} })
		r.post(t, 1, 20)
		if n, err := r.cq.Poll(make([]uverbs.WC, 5)); n != 5 || err != nil {
			t.Fatal(n, err)
		}
		for _, tc := range []struct {
			entries int
			text    string
		}{
			{0, "CQ 2 to 0 entries"}, {-1, "to -1 entries"}, {14, "to 14 entries"}, // 15 are in it
			{1 << 20, "Entries is 1048576, the device allows 1 to 65536 (max_cqe)"},
		} {
			if err := r.cq.Resize(tc.entries); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), tc.text) {
				t.Errorf("%d entries: %v", tc.entries, err)
			}
		}
		if err := r.cq.Arm(); err != nil {
			t.Fatal(err)
		}
		if err := r.cq.Resize(200); err != nil || r.cq.Entries() != 255 {
			t.Fatalf("%d entries, %v", r.cq.Entries(), err)
		}
		r.post(t, 21, 150)
		<-event
		r.pollIDs(t, 6, 150)
		r.post(t, 151, 153)
		if err := r.cq.Resize(3); err != nil || r.cq.Entries() != 3 {
			t.Fatalf("%d entries, %v", r.cq.Entries(), err)
		}
		r.pollIDs(t, 151, 153)
	})
}

// TestCQResizeBesidePolling resizes all the time while completions come and go.
func TestCQResizeBesidePolling(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		const total = 2000
		var wg sync.WaitGroup
		done := make(chan struct{})
		wg.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				if err := r.cq.Resize(30 + i%100); err != nil {
					t.Error(err)
					return
				}
			}
		})
		ctx := withTimeout(t)
		for id := uint64(0); id < total; {
			n := min(total-id, 1+id%8)
			r.post(t, id, id+n-1)
			for end := id + n; id < end; {
				var wcs [4]uverbs.WC
				got, err := r.cq.Wait(ctx, wcs[:])
				if err != nil {
					t.Fatal(err)
				}
				for i := range wcs[:got] {
					if wcs[i].ID != id {
						t.Fatalf("got id %d, want %d", wcs[i].ID, id)
					}
					id++
				}
			}
		}
		close(done)
		wg.Wait()
	})
}

// TestCQResizeLosesRing: the kernel has moved on, but the new ring cannot be
// mapped. Whoever waits learns it.
func TestCQResizeLosesRing(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		waited := make(chan error)
		go func() {
			_, err := r.cq.Wait(context.Background(), make([]uverbs.WC, 1))
			waited <- err
		}()
		awaitArmed(t, k, 0) // so that the calls are counted
		k.FailCall(len(k.Calls())+1, syscall.EAGAIN)
		err := r.cq.Resize(50)
		if !errors.Is(err, syscall.EAGAIN) || !strings.Contains(err.Error(), "RESIZE_CQ") {
			t.Fatalf("resize: %v", err)
		}
		_, pollErr := r.cq.Poll(make([]uverbs.WC, 1))
		for name, later := range map[string]error{"wait": <-waited, "poll": pollErr, "resize": r.cq.Resize(60)} {
			if later != err {
				t.Errorf("%s: %v", name, later)
			}
		}
	})
}

func TestModeration(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		if err := r.cq.Moderate(1, 0); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("on a device without: %v", err)
		}
		k.Moderation = true
		if err := r.cq.Moderate(16, 50*time.Microsecond); err != nil {
			t.Fatal(err)
		}
		if count, us := k.ModerationOf(r.cq.Handle()); count != 16 || us != 50 {
			t.Errorf("%d completions or %d µs", count, us)
		}
		for _, bad := range []error{
			r.cq.Moderate(-1, 0), r.cq.Moderate(1<<16, 0), r.cq.Moderate(0, -time.Microsecond), r.cq.Moderate(0, time.Second),
		} {
			if !errors.Is(bad, syscall.EINVAL) {
				t.Error(bad)
			}
		}
	})
}
