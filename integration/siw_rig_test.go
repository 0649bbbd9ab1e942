//go:build linux

package integration

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// onIWARP reports whether the guest's device is soft-iWARP (scripts/vm --siw), where
// some things end differently; package cm lists them.
func onIWARP() bool { return os.Getenv("RDMA_PROVIDER") == "siw" }

// requireSiw is for tests of soft-iWARP alone.
func requireSiw(t *testing.T) {
	t.Helper()
	requireRDMA(t)
	if !onIWARP() {
		// Not "missing": runs on soft-RoCE are right without these tests.
		t.Skip("needs soft-iWARP: run through scripts/vm --siw")
	}
}

// mostData is the most private data of an operation over the guest's device.
func mostData(op cm.Op) int {
	if onIWARP() {
		return cm.MaxIWARPData
	}
	return map[cm.Op]int{cm.OpConnect: cm.MaxConnectData, cm.OpAccept: cm.MaxAcceptData, cm.OpReject: cm.MaxRejectData}[op]
}

// linkType is the type of the soft devices that tests make.
func linkType() string {
	if onIWARP() {
		return "siw"
	}
	return "rxe"
}

// wantUnsupported wants the typed error of what iWARP lacks.
func wantUnsupported(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("%s: %v, want an error that matches errors.ErrUnsupported", what, err)
	}
}

// needsInfiniBand is for tests of what iWARP does not have, with the reason.
func needsInfiniBand(t *testing.T, why string) {
	t.Helper()
	requireRDMA(t)
	if onIWARP() {
		t.Skip("not on iWARP: " + why)
	}
}

// needsDatagrams is for tests of datagram services. On iWARP it checks that they say
// that there are none.
func needsDatagrams(t *testing.T) {
	t.Helper()
	requireRDMA(t)
	if !onIWARP() {
		return
	}
	ctx := testContext(t)
	id := idsNew(t, &cm.IDOptions{PortSpace: abi.RDMA_PS_UDP})
	if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, sockaddr(t, addrV4+":7481")); err != nil {
		t.Fatal(err)
	}
	_, err := id.JoinMulticast(ctx, sockaddr(t, "239.1.2.3:0"), nil)
	wantUnsupported(t, "join", err)
	if err := id.ResolveRoute(ctx); err != nil {
		t.Fatal(err)
	}
	_, err = id.ConnectDatagram(ctx, nil)
	wantUnsupported(t, "connect", err)
	t.Skip("iWARP has no datagrams, and says so, as was checked")
}

// siwEnds are two connected queue pairs with their IDs.
type siwEnds struct {
	client, server *verbsSide
	a, b           *cm.ID
}

// siwConnect connects two queue pairs of a device with each other.
func siwConnect(t *testing.T, pd *uverbs.PD, change ...func(*uverbs.QPConfig)) siwEnds {
	t.Helper()
	ctx := testContext(t)
	l, dst := idsListen(t, nil)
	a := idsResolved(t, nil, dst)
	client := siwSide(t, a, pd, nil)
	answer := idsConnect(ctx, a, idsParam(client.qp.Number()), ucma.ECE{})
	b, _ := idsRequest(t, l)
	server := siwSide(t, b, pd, change)
	if err := b.Accept(idsParam(server.qp.Number()), ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitEstablished(ctx); err != nil {
		t.Fatal(err)
	}
	if r := <-answer; r.err != nil {
		t.Fatal(r.err)
	}
	return siwEnds{client, server, a, b}
}

// siwSide is idsSide with a queue pair of another kind.
func siwSide(t *testing.T, id *cm.ID, pd *uverbs.PD, change []func(*uverbs.QPConfig)) *verbsSide {
	t.Helper()
	if len(change) == 0 {
		return idsSide(t, id, pd)
	}
	s := idsSide(t, id, pd) // its queue pair is not used
	cfg := uverbs.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, Cap: verbsCap}
	for _, f := range change {
		f(&cfg)
	}
	if err := s.qp.Close(); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.qp, err = id.CreateQP(pd, cfg); err != nil {
		t.Fatal(err)
	}
	verbsClose(t, s.qp)
	return s
}

// siwEach runs a test with connected queue pairs through both of the kernel's
// interfaces.
func siwEach(t *testing.T, f func(t *testing.T, pd *uverbs.PD)) {
	requireSiw(t)
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			pd, err := verbsOpen(t, style).AllocPD()
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, pd)
			f(t, pd)
		})
	}
}

// iwarpReason is an errno as the reason of a refusal.
func iwarpReason(errno syscall.Errno) abi.CMRejectReason {
	return abi.CMRejectReason(uint32(-int32(errno)))
}
