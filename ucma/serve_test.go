package ucma

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakecm"
)

// TestServeEvents: events come in order; whoever holds the lock stops them;
// contexts and Close end it.
func TestServeEvents(t *testing.T) {
	k := &fakecm.Kernel{}
	c, err := Open(&Options{Kernel: k})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	id, err := c.CreateID(7, abi.RDMA_PS_TCP, 0)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := make(chan int32, 100)
	serve := func(ctx context.Context) <-chan error {
		ended := make(chan error, 1)
		go func() { ended <- c.ServeEvents(ctx, &mu, func(ev *Event) { seen <- ev.Status }) }()
		return ended
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := serve(ctx)
	for i := range int32(20) {
		k.InjectType(id, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, i)
		if got := <-seen; got != i {
			t.Fatalf("event %d, want %d", got, i)
		}
	}
	mu.Lock()
	k.InjectType(id, abi.RDMA_CM_EVENT_TIMEWAIT_EXIT, 20)
	time.Sleep(5 * time.Millisecond)
	if ev, err := c.TryGetEvent(); err != nil || ev.Status != 20 {
		t.Errorf("with the lock held the event was taken: %v", err)
	}
	mu.Unlock()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended by its context: %v", err)
	}
	ended = serve(context.Background())
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("ended by Close: %v", err)
	}
	if len(seen) != 0 {
		t.Errorf("%d events too many", len(seen))
	}
}

func TestUserEventArg(t *testing.T) {
	ev := UserEvent(1, 2, -3, 0xfedcba9876543210)
	if ev.UID != 1 || ev.ID != 2 || ev.Status != -3 || ev.Type != abi.RDMA_CM_EVENT_USER || ev.Arg() != 0xfedcba9876543210 {
		t.Errorf("%+v, argument %#x", ev, ev.Arg())
	}
}
