package cm

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// What rows of docs/librdmacm.md say, and no other test looks at.

// TestStepsOpenNoDevice: binding, listening and resolving leave the RDMA device closed,
// where librdmacm opens it.
func TestStepsOpenNoDevice(t *testing.T) {
	r := newRig(t)
	l := r.newID()
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	a := r.resolved()
	if _, err := a.Device(); err != nil {
		t.Error(err)
	}
	if calls := r.verbs.Calls(); len(calls) != 0 {
		t.Errorf("calls to the device: %v", calls)
	}
}

// TestChannelWithoutDevice: neither a channel nor an ID asks for an RDMA device.
func TestChannelWithoutDevice(t *testing.T) {
	r := newRig(t)
	none := func() (*uverbs.Device, error) {
		t.Error("a device was looked for")
		return nil, uverbs.ErrNoDevice
	}
	host.deviceByIndex = func(int) (*uverbs.Device, error) { return none() }
	host.deviceByName = func(string) (*uverbs.Device, error) { return none() }
	host.deviceByGUID = func(uverbs.GUID) (*uverbs.Device, error) { return none() }
	for _, open := range []func(*ucma.Options) (*EventChannel, error){NewEventChannel, NewRawEventChannel} {
		r.idOn(r.channel(open), 0)
	}
	r.newID()
}

// waitSign is a context that tells when somebody has looked for what there is, and
// begins to wait for more.
type waitSign struct {
	context.Context
	once  sync.Once
	waits chan struct{}
}

func newWaitSign(ctx context.Context) *waitSign {
	return &waitSign{Context: ctx, waits: make(chan struct{})}
}

func (w *waitSign) Done() <-chan struct{} {
	w.once.Do(func() { close(w.waits) })
	return w.Context.Done()
}
