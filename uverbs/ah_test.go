//go:build linux

package uverbs_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

const testQKey = 0x11112222

// udQP makes a datagram queue pair that sends and receives.
func udQP(t testing.TB, r *rig) *uverbs.QP {
	t.Helper()
	qp, err := r.pd.CreateQP(uverbs.QPConfig{
		Type: abi.IB_UVERBS_QPT_UD, SendCQ: r.cq, RecvCQ: r.cq,
		Cap: uverbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInline: 64},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := qp.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(qp.ToInitUD(1, testQKey), qp.ToRTR(uverbs.RTRConfig{}), qp.ToRTS(uverbs.RTSConfig{})); err != nil {
		t.Fatal(err)
	}
	return qp
}

// fakeGIDs writes the fake's GID table as sysfs shows it, for the call style that
// has no command for it.
func fakeGIDs(t *testing.T, d *uverbs.Device) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"gids/0": "fe80::1", "gid_attrs/types/0": "RoCE v2", "gids/2": "fd00::2", "gid_attrs/types/2": "RoCE v2",
	} {
		path := filepath.Join(root, "sys/class/infiniband", d.Name, "ports/1", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	uverbs.SetSysfs(d, root)
}

// TestDatagrams sends one and answers it, on kernels that number address
// handles and on those that do not.
func TestDatagrams(t *testing.T) {
	for name, old := range map[string]bool{"numbered": false, "not numbered": true} {
		t.Run(name, func(t *testing.T) {
			eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
				k.NoAHNumber = old
				fakeGIDs(t, c.Device())
				r := mustBuild(t, c, nil)
				a, b := udQP(t, r), udQP(t, r)
				dst, _ := uverbs.ParseGID("fd00::2")
				ah, err := r.pd.CreateAH(uverbs.AHAttr{DGID: dst, SGIDIndex: 0, HopLimit: 7})
				if err != nil {
					t.Fatal(err)
				}
				defer ah.Close()
				grh, wc := r.datagram(t, a, b, ah, "question")
				src, _ := uverbs.ParseGID("fe80::1")
				if diff := cmp.Diff(uverbs.GRH{Src: src, Dst: dst, HopLimit: 7, NextHeader: 17}, grh); diff != "" {
					t.Errorf("header (-want +got):\n%s", diff)
				}
				back, err := r.pd.CreateAHFromWC(1, &wc, r.mr.Bytes())
				if err != nil {
					t.Fatal(err)
				}
				defer back.Close()
				want := uverbs.AHAttr{DGID: src, SGIDIndex: 2, Global: true, HopLimit: 64, Port: 1}
				if diff := cmp.Diff(want, back.Attr()); diff != "" {
					t.Errorf("path back (-want +got):\n%s", diff)
				}
				if grh, _ := r.datagram(t, b, a, back, "answer"); grh.Src != dst || grh.Dst != src {
					t.Errorf("header of the answer: %+v", grh)
				}
			})
		})
	}
}

// datagram sends text and returns what the receiver got.
func (r *rig) datagram(t *testing.T, from, to *uverbs.QP, ah *uverbs.AH, text string) (uverbs.GRH, uverbs.WC) {
	t.Helper()
	clear(r.mr.Bytes())
	if err := to.PostRecv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{r.mr.SGE(0, 24), r.mr.SGE(24, 100)}}); err != nil {
		t.Fatal(err)
	}
	err := from.PostSend(uverbs.SendWR{
		ID: 2, Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Imm: 77, Flags: uverbs.SendSignaled, Inline: []byte(text),
		AH: ah, RemoteQPN: to.Number(), RemoteQKey: testQKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	var wcs [3]uverbs.WC
	n, err := r.cq.Poll(wcs[:])
	want := uverbs.WC{
		ID: 1, Opcode: abi.IB_WC_RECV, ByteLen: uint32(uverbs.GRHSize + len(text)), Imm: 77,
		QPN: to.Number(), SrcQPN: from.Number(), Flags: abi.IB_WC_GRH | abi.IB_WC_WITH_IMM,
	}
	if n != 2 || err != nil || wcs[0] != want || wcs[1].Err() != nil {
		t.Fatalf("%d completions %+v, %v", n, wcs, err)
	}
	if got := string(r.mr.Bytes()[uverbs.GRHSize:wcs[0].ByteLen]); got != text {
		t.Errorf("received %q", got)
	}
	grh, err := uverbs.ParseGRH(r.mr.Bytes())
	if err != nil {
		t.Error(err)
	}
	return grh, wcs[0]
}

func TestCreateAHRefused(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		some, _ := uverbs.ParseGID("fd00::9")
		for _, tc := range []struct {
			name string
			attr uverbs.AHAttr
			err  error
			text string
		}{
			{"LID", uverbs.AHAttr{DLID: 5, Port: 1}, errors.ErrUnsupported, "RoCE has no LIDs"},
			{"no GID", uverbs.AHAttr{Port: 1}, syscall.EINVAL, "invalid argument; on RoCE a path needs DGID"},
			{"empty slot", uverbs.AHAttr{DGID: some, SGIDIndex: 1, Global: true, Port: 1}, syscall.ENODATA, "no data available; the port has no GID"},
			{"nobody there", uverbs.AHAttr{DGID: fakeverbs.Unreachable, Global: true, Port: 1}, syscall.ETIMEDOUT, "nobody answers"},
		} {
			_, err := r.pd.CreateAH(tc.attr)
			if !errors.Is(err, tc.err) || !strings.Contains(err.Error(), tc.text) || !strings.Contains(err.Error(), "CREATE_AH ("+tc.attr.String()) {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
	})
}

func TestPostDatagramRefused(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		qp := udQP(t, r)
		other, err := c.AllocPD()
		if err != nil {
			t.Fatal(err)
		}
		defer other.Close()
		create := func(pd *uverbs.PD) *uverbs.AH {
			ah, err := pd.CreateAH(uverbs.AHAttr{DGID: [16]byte{0xfd, 15: 2}})
			if err != nil {
				t.Fatal(err)
			}
			return ah
		}
		foreign, closed := create(other), create(r.pd)
		defer foreign.Close()
		for range 2 {
			if err := closed.Close(); err != nil {
				t.Fatal(err)
			}
		}
		var busy *uverbs.BusyError
		if err := other.Close(); !errors.As(err, &busy) || busy.Users[0] != foreign.String() {
			t.Errorf("close PD: %v", err)
		}
		for name, tc := range map[string]struct {
			ah   *uverbs.AH
			want error
		}{"no handle": {nil, uverbs.ErrNoAH}, "closed": {closed, net.ErrClosed}, "other PD": {foreign, syscall.EINVAL}} {
			err := qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, AH: tc.ah, RemoteQPN: qp.Number()})
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if n, err := r.cq.Poll(make([]uverbs.WC, 1)); n != 0 || err != nil {
			t.Error(n, err)
		}
	})
}

func TestAHAttrFromWC(t *testing.T) {
	c := openFake(t)
	header := make([]byte, uverbs.GRHSize)
	header[0] = 0x60
	header[24] = 0xfc // to an address that the port does not have
	withGRH := uverbs.WC{Flags: abi.IB_WC_GRH}
	if _, err := c.AHAttrFromWC(1, &withGRH, header); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("unknown GID: %v", err)
	}
	if _, err := c.AHAttrFromWC(1, &withGRH, header[:39]); err == nil {
		t.Error("short header accepted")
	}
	got, err := c.AHAttrFromWC(1, &uverbs.WC{SLID: 9, SL: 3, DLIDPathBits: 1}, nil)
	if want := (uverbs.AHAttr{DLID: 9, SL: 3, SrcPathBits: 1, Port: 1}); err != nil || got != want {
		t.Errorf("without header: %+v, %v", got, err)
	}
}

func TestPostDatagramAllocatesNothing(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	qp := udQP(t, r)
	ah, err := r.pd.CreateAH(uverbs.AHAttr{DGID: [16]byte{0xfd, 15: 2}})
	if err != nil {
		t.Fatal(err)
	}
	defer ah.Close()
	n := testing.AllocsPerRun(1000, func() {
		sges := [1]uverbs.SGE{r.mr.SGE(0, 64)}
		err := qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, SGEs: sges[:], AH: ah, RemoteQPN: 1, RemoteQKey: 2})
		if err != nil {
			t.Fatal(err)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestMulticast sends to a group: its members receive it, others do not, and a
// member may be closed.
func TestMulticast(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		from, member, other := udQP(t, r), udQP(t, r), udQP(t, r)
		group, _ := uverbs.ParseGID("ff0e::77")
		for range 2 { // twice is once
			if err := member.AttachMulticast(group, 0); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(other.AttachMulticast(group, 0), other.DetachMulticast(group, 0)); err != nil {
			t.Fatal(err)
		}
		ah, err := r.pd.CreateAH(uverbs.AHAttr{DGID: group})
		if err != nil {
			t.Fatal(err)
		}
		defer ah.Close()
		for _, qp := range []*uverbs.QP{member, other} {
			if err := qp.PostRecv(uverbs.RecvWR{SGEs: []uverbs.SGE{r.mr.SGE(0, 200)}}); err != nil {
				t.Fatal(err)
			}
		}
		err = from.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND, AH: ah, RemoteQPN: uverbs.MulticastQPN, RemoteQKey: testQKey})
		if err != nil {
			t.Fatal(err)
		}
		var wcs [3]uverbs.WC
		if n, err := r.cq.Poll(wcs[:]); n != 1 || err != nil || wcs[0].QPN != member.Number() {
			t.Errorf("%d completions %+v, %v", n, wcs, err)
		}
		for name, err := range map[string]error{
			"not attached":      other.DetachMulticast(group, 0),
			"another LID":       member.DetachMulticast(group, 5),
			"no group":          member.AttachMulticast([16]byte{0xfd}, 0),
			"connected QP":      r.qp.AttachMulticast(group, 0),
			"connected, detach": r.qp.DetachMulticast(group, 0),
		} {
			if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "group ") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := member.AttachMulticast(group, 9); err != nil {
			t.Error(err)
		}
		if err := member.Close(); err != nil {
			t.Errorf("close of a member: %v", err)
		}
		if err := member.AttachMulticast(group, 0); !errors.Is(err, net.ErrClosed) {
			t.Errorf("attach after close: %v", err)
		}
		if calls := k.Calls(); calls[len(calls)-2] != "DETACH_MCAST" || calls[len(calls)-3] != "DETACH_MCAST" {
			t.Errorf("calls: %v", calls[len(calls)-5:])
		}
	})
}
