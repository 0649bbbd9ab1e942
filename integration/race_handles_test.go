//go:build linux

package integration

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// TestRaceNoHandles takes all address handles of a device that has few, and
// connects: both the dial and the accept say what is missing, and that it is not
// the peer who left. With the handles given back both work.
func TestRaceNoHandles(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	pd := idsPD(t)
	attr, err := pd.Context().QueryDevice()
	if err != nil {
		t.Fatal(err)
	}
	if attr.MaxAH == 0 || attr.MaxAH > 1024 {
		// Not "missing": only soft-RoCE of 5.10 has few.
		if !kernelAtLeast(t, 5, 11) {
			t.Fatalf("the device has %d address handles", attr.MaxAH)
		}
		t.Skipf("the device has %d address handles: none, or too many to take", attr.MaxAH)
	}
	ctx := testContext(t)
	l := listenOn(t, addrV4+":0", nil)
	dialed := make(chan accepted, 1)
	go func() {
		c, err := cm.Dial(ctx, l.Addr().String())
		dialed <- accepted{conn: c, err: err}
	}()
	req, err := l.Accept(ctx)
	if err != nil {
		t.Fatal(err)
	}
	giveBack := takeHandles(t, pd)
	if err := second(cm.Dial(ctx, l.Addr().String())); !errors.Is(err, cm.ErrNoHandles) {
		t.Errorf("dial: %v", err)
	}
	if err := second(req.Accept(ctx, nil)); !errors.Is(err, cm.ErrNoHandles) || errors.Is(err, cm.ErrPeerGone) {
		t.Errorf("accept: %v", err)
	} else {
		t.Log(err)
	}
	giveBack()
	// The refusal needs a handle as well, so the peer has not heard of it. Its
	// request comes again after some seconds, as a new one.
	server := <-acceptOne(ctx, l, nil)
	client := <-dialed
	if err := errors.Join(server.err, client.err); err != nil {
		t.Fatal(err)
	}
	exchange(t, client.conn, server.conn, 100)
	closeConn(t, client.conn)
	closeConn(t, server.conn)
}

// takeHandles makes address handles until there are none, and returns what gives
// them back.
func takeHandles(t *testing.T, pd *uverbs.PD) (giveBack func()) {
	t.Helper()
	gid := verbsGID(t, pd.Context())
	var taken []*uverbs.AH
	for {
		ah, err := pd.CreateAH(uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), Port: 1})
		if err != nil {
			t.Logf("%d address handles taken: %v", len(taken), err)
			break
		}
		taken = append(taken, ah)
	}
	return func() {
		for _, ah := range taken {
			if err := ah.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
