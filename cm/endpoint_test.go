package cm

import (
	"errors"
	"net/netip"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// newPD opens the fake's verbs device.
func (r *rig) newPD() *uverbs.PD {
	r.t.Helper()
	dev, err := host.deviceByIndex(1)
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := uverbs.OpenOn(r.cm, dev, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	pd, err := c.AllocPD()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := errors.Join(pd.Close(), c.Close()); err != nil {
			r.t.Error(err)
		}
	})
	return pd
}

func (r *rig) newQP(id *ID, pd *uverbs.PD) *uverbs.QP {
	r.t.Helper()
	cq, err := pd.Context().CreateCQ(uverbs.CQConfig{Entries: 8})
	if err != nil {
		r.t.Fatal(err)
	}
	qp, err := id.CreateQP(pd, uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: uverbs.QPCap{MaxSendWR: 2, MaxRecvWR: 2}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := errors.Join(qp.Close(), cq.Close()); err != nil {
			r.t.Error(err)
		}
	})
	return qp
}

func addrInfo(t *testing.T, passive bool, ps abi.RDMAUCMPortSpace) *AddrInfo {
	t.Helper()
	list, err := ResolveAddrInfo(testContext(t), serverAddr.Addr().String(), "7174", &AddrInfoHints{Passive: passive, PortSpace: ps})
	if err != nil || len(list) != 1 {
		t.Fatalf("%d ways, %v", len(list), err)
	}
	return &list[0]
}

// TestEndpoint connects two endpoints with queue pairs of their own.
func TestEndpoint(t *testing.T) {
	r := newRig(t)
	ctx, pd := testContext(t), r.newPD()
	l, err := NewEndpoint(ctx, addrInfo(t, true, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.Listen(0); err != nil {
		t.Fatal(err)
	}
	a, err := NewEndpoint(ctx, addrInfo(t, false, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	qp := r.newQP(a, pd)
	defer qp.Close()
	connected := async(func() (*ucma.ConnParam, error) {
		return a.Connect(ctx, &ucma.ConnParam{QPNum: qp.Number()}, ucma.ECE{})
	})
	b, ev, err := l.NextRequest(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if ev.Conn().QPNum != qp.Number() {
		t.Errorf("request from queue pair %#x", ev.Conn().QPNum)
	}
	bqp := r.newQP(b, pd)
	defer bqp.Close()
	for _, s := range []abi.IBQPState{abi.IB_QPS_RTR, abi.IB_QPS_RTS} {
		if err := b.ModifyQP(bqp, s); err != nil {
			t.Fatal(err)
		}
	}
	if code := r.verbs.QPAttr(bqp.Number()).MinRnrTimer; code != 12 { // 0.64 ms
		t.Errorf("the peer is asked to repeat after pause %d", code)
	}
	if err := b.Accept(&ucma.ConnParam{QPNum: bqp.Number()}, ucma.ECE{}); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, connected); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(a.ModifyQP(qp, abi.IB_QPS_RTR), a.ModifyQP(qp, abi.IB_QPS_RTS), a.Establish()); err != nil {
		t.Fatal(err)
	}
	if err := b.WaitEstablished(ctx); err != nil {
		t.Fatal(err)
	}
	src, err := a.LocalAddr()
	dst, err2 := b.RemoteAddr()
	if err != nil || err2 != nil || src != dst || src.Port() == 0 {
		t.Errorf("%v and %v, %v %v", src, dst, err, err2)
	}
}

// TestEndpointDatagram: a datagram queue pair is ready at once.
func TestEndpointDatagram(t *testing.T) {
	r := newRig(t)
	id, err := NewEndpoint(testContext(t), addrInfo(t, false, abi.RDMA_PS_UDP), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer id.Close()
	qp := r.newQP(id, r.newPD())
	defer qp.Close()
	attr, err := qp.Query()
	if err != nil || attr.State != abi.IB_QPS_RTS {
		t.Errorf("state %v, %v", attr.State, err)
	}
}

func TestEndpointErrors(t *testing.T) {
	r := newRig(t)
	ctx, pd := testContext(t), r.newPD()
	loop := &AddrInfo{Dst: sockaddr(t, "127.0.0.1:1")}
	_, err := NewEndpoint(ctx, loop, nil)
	wants(t, err, ErrLoopback)
	_, err = NewEndpoint(ctx, &AddrInfo{Dst: sockaddr(t, "10.9.9.9:1")}, nil)
	wants(t, err, syscall.ENETUNREACH)
	withRoute := addrInfo(t, false, 0)
	withRoute.Route = make([]abi.IBPathRecData, 1)
	id, err := NewEndpoint(ctx, withRoute, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer id.Close()
	_, err = id.CreateQP(pd, uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD})
	wants(t, err, syscall.EINVAL)
	_, err = id.CreateQP(pd, uverbs.QPConfig{})
	wants(t, err, syscall.EINVAL) // no completion queues
	_, err = r.newID().CreateQP(pd, uverbs.QPConfig{})
	wants(t, err, ErrNoDevice)
	_, err = r.newID().Device()
	wants(t, err, ErrNoDevice)
	if d, err := id.Device(); err != nil || d.Name != "rxe0" {
		t.Errorf("device %v, %v", d, err)
	}
}

func TestResolveAddrInfo(t *testing.T) {
	for _, tc := range []struct {
		node, service string
		hints         *AddrInfoHints
		want          []string // Src or Dst
		err           error
	}{
		{"10.0.0.1", "7", nil, []string{"10.0.0.1:7"}, nil},
		{"10.0.0.1", "", nil, []string{"10.0.0.1:0"}, nil},
		{"fd00::1", "7", &AddrInfoHints{Network: "ip6"}, []string{"[fd00::1]:7"}, nil},
		{"fd00::1", "7", &AddrInfoHints{Network: "ip4"}, nil, syscall.EINVAL},
		{"", "7", &AddrInfoHints{Passive: true}, []string{"[::]:7", "0.0.0.0:7"}, nil},
		{"", "7", &AddrInfoHints{Passive: true, Network: "ip4"}, []string{"0.0.0.0:7"}, nil},
		{"", "7", &AddrInfoHints{Passive: true, Network: "ip6"}, []string{"[::]:7"}, nil},
		{"", "7", nil, nil, syscall.EINVAL},
		{"localhost", "7", &AddrInfoHints{NumericHost: true}, nil, syscall.EINVAL},
		{"localhost", "7", &AddrInfoHints{Network: "ip4"}, []string{"127.0.0.1:7"}, nil},
		{"fe80::1", "7471", &AddrInfoHints{Network: "ib"}, []string{"[fe80::1]#0x1061d2f"}, nil},
		{"10.0.0.1", "7471", &AddrInfoHints{Network: "ib"}, nil, syscall.EINVAL},
		{"10.0.0.1", "7", &AddrInfoHints{Network: "tcp"}, nil, syscall.EINVAL},
		{"10.0.0.1", "7", &AddrInfoHints{Src: netip.MustParseAddrPort("10.0.0.2:0"), PortSpace: abi.RDMA_PS_UDP}, []string{"10.0.0.1:7"}, nil},
	} {
		list, err := ResolveAddrInfo(testContext(t), tc.node, tc.service, tc.hints)
		if !errors.Is(err, tc.err) {
			t.Errorf("%q %q %+v: %v", tc.node, tc.service, tc.hints, err)
			continue
		}
		var got []string
		for _, ai := range list {
			if ai.Passive {
				got = append(got, ai.Src.String())
			} else {
				got = append(got, ai.Dst.String())
			}
			if h := tc.hints; h != nil && h.Src.IsValid() && (ai.Src.String() != h.Src.String() || ai.PortSpace != h.PortSpace) {
				t.Errorf("from %v, %v", ai.Src, ai.PortSpace)
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%q %q (-want +got):\n%s", tc.node, tc.service, diff)
		}
	}
	if _, err := ResolveAddrInfo(testContext(t), "10.0.0.1", "no-such-service", nil); err == nil {
		t.Error("unknown service")
	}
}

// TestRejectECE: the peer sees reason 35.
func TestRejectECE(t *testing.T) {
	r := newRig(t)
	l := r.newID()
	if err := errors.Join(l.Bind(sockaddr(t, serverAddr.String())), l.Listen(0)); err != nil {
		t.Fatal(err)
	}
	a := r.resolved()
	refused := async(func() (*ucma.ConnParam, error) { return a.Connect(testContext(t), plainParam, ucma.ECE{VendorID: 1}) })
	b, _, err := l.NextRequest(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.RemoteECE().VendorID != 1 {
		t.Errorf("option %+v", b.RemoteECE())
	}
	if err := b.RejectECE([]byte("no")); err != nil {
		t.Fatal(err)
	}
	_, err = get(t, refused)
	var rej *RejectError
	if !errors.As(err, &rej) || rej.Reason != abi.IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED {
		t.Errorf("error %v", err)
	}
}
