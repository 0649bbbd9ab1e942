//go:build linux

package uverbs_test

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// TestForeignObjects: a queue pair on anything of another context, whose handle means
// something else here, is refused before the kernel is asked.
func TestForeignObjects(t *testing.T) {
	r, o := mustBuild(t, openFake(t), nil), mustBuild(t, openFake(t), nil)
	for name, change := range map[string]func(*uverbs.QPConfig){
		"send CQ":    func(cfg *uverbs.QPConfig) { cfg.SendCQ = o.cq },
		"receive CQ": func(cfg *uverbs.QPConfig) { cfg.RecvCQ = o.cq },
		"SRQ":        func(cfg *uverbs.QPConfig) { cfg.SRQ = o.srq },
	} {
		cfg := uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, SRQ: r.srq, Cap: uverbs.QPCap{MaxSendWR: 1}}
		change(&cfg)
		_, err := r.pd.CreateQP(cfg)
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "different contexts") {
			t.Errorf("%s of another context: %v", name, err)
		}
	}
}

// TestSRQTakesReceives: a queue pair with a shared receive queue asks for no receives of
// its own, whatever its configuration says.
func TestSRQTakesReceives(t *testing.T) {
	eachStyle(t, func(t *testing.T, _ *fakeverbs.Kernel, c *uverbs.Context) {
		r := mustBuild(t, c, nil)
		qp, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: r.cq, RecvCQ: r.cq, SRQ: r.srq,
			Cap: uverbs.QPCap{MaxSendWR: 2, MaxSendSGE: 2, MaxRecvWR: 4, MaxRecvSGE: 3}})
		if err != nil {
			t.Fatal(err)
		}
		got, err := qp.Query()
		if err != nil || got.Cap.MaxRecvWR != 0 || got.Cap.MaxRecvSGE != 0 || got.Cap.MaxSendWR < 2 || got.Cap.MaxSendSGE < 2 {
			t.Errorf("%+v, %v", got.Cap, err)
		}
		closeAll(t, qp)
	})
}

// TestHopLimits: 0 stands for the default, and any other is the caller's.
func TestHopLimits(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	gid := uverbs.GID{0xfd, 15: 2}
	for _, tc := range []struct {
		attr uverbs.AHAttr
		want uint8
	}{
		{uverbs.AHAttr{DGID: gid}, 64}, {uverbs.AHAttr{DGID: gid, HopLimit: 1}, 1}, {uverbs.AHAttr{DGID: gid, HopLimit: 255}, 255},
	} {
		ah, err := r.pd.CreateAH(tc.attr)
		if err != nil {
			t.Fatal(err)
		}
		if got := ah.Attr(); got.HopLimit != tc.want || !got.Global {
			t.Errorf("hop limit %d became %d, global %v", tc.attr.HopLimit, got.HopLimit, got.Global)
		}
		closeAll(t, ah)
	}
}
