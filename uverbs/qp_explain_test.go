//go:build linux

package uverbs_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestToRTRExplains: each errno of a path that cannot be taken has its explanation.
func TestToRTRExplains(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ETIMEDOUT:    "no neighbour answered for 10.77.0.9",
		syscall.ENETUNREACH:  "no route to 10.77.0.9",
		syscall.EHOSTUNREACH: "no route to 10.77.0.9",
		syscall.ENODATA:      "slot 7 of the GID table of port 1 is empty",
	} {
		eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
			r := mustBuild(t, c, nil)
			gid, _ := uverbs.ParseGID("10.77.0.9")
			if err := r.qp.ToInit(1, 0); err != nil {
				t.Fatal(err)
			}
			k.FailCall(len(k.Calls())+1, errno) // after the port was looked at
			err := r.qp.ToRTR(uverbs.RTRConfig{AH: uverbs.AHAttr{DGID: gid, SGIDIndex: 7}, DestQPN: 1})
			if !errors.Is(err, errno) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: got %v, want %q", errno, err, want)
			}
		})
	}
}

// TestToRTRLargeMTU: what is above the port's is refused, and the default is no more.
func TestToRTRLargeMTU(t *testing.T) {
	c := openFake(t)
	r := mustBuild(t, c, nil)
	gid, _ := uverbs.ParseGID("10.77.0.9")
	if err := r.qp.ToInit(1, 0); err != nil {
		t.Fatal(err)
	}
	err := r.qp.ToRTR(uverbs.RTRConfig{AH: uverbs.AHAttr{DGID: gid}, MTU: abi.IB_MTU_4096})
	if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "MTU is 4096 bytes, port 1 carries 1024") {
		t.Errorf("got %v", err)
	}
	if err := r.qp.ToRTR(uverbs.RTRConfig{AH: uverbs.AHAttr{DGID: gid}}); err != nil {
		t.Fatal(err)
	}
	if a, err := r.qp.Query(); err != nil || a.PathMTU != abi.IB_MTU_1024 {
		t.Errorf("path MTU %v, %v", a.PathMTU, err)
	}
}

// TestPostSendNamesState: a doorbell that the kernel refuses for the state says so.
func TestPostSendNamesState(t *testing.T) {
	k := fakeverbs.New()
	k.CheckState = true
	c, err := uverbs.OpenOn(k, fakeDevice(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := mustBuild(t, c, nil)
	for _, tc := range []struct {
		state string
		to    func() error
	}{{"RESET", nil}, {"INIT", func() error { return r.qp.ToInit(1, 0) }}} {
		if tc.to != nil {
			if err := tc.to(); err != nil {
				t.Fatal(err)
			}
		}
		err := r.qp.PostSend(uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND})
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "in state "+tc.state) {
			t.Errorf("in %s: %v", tc.state, err)
		}
	}
}

// TestCreateQPInlineLimit: the limit that no kernel tells is found and named.
func TestCreateQPInlineLimit(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		k.MaxInline = 512
		r := mustBuild(t, c, nil)
		cfg := uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, Cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxInline: 5000}}
		_, err := r.pd.CreateQP(cfg)
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "Cap.MaxInline is 5000, the device allows 512") {
			t.Errorf("got %v", err)
		}
		cfg.Cap.MaxInline = 512
		qp, err := r.pd.CreateQP(cfg)
		if err != nil {
			t.Fatalf("the limit itself: %v", err)
		}
		if err := qp.Close(); err != nil {
			t.Error(err)
		}
	})
}
