//go:build linux

package integration

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestVerbsUnsupported asks soft-RoCE for what it has not: each call exists and
// says so, through both interfaces, and nothing is left behind.
func TestVerbsUnsupported(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, _ := verbsPair(t, c)
		pd, cq := a.qp.PD(), a.cq
		ud, err := pd.CreateQP(uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: cq, RecvCQ: cq})
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, ud)
		for name, ask := range map[string]func() error{
			"XRC domain":     func() error { _, err := c.OpenXRCD(); return err },
			"shared domain":  func() error { _, err := c.OpenSharedXRCD(os.Stdin, os.O_CREATE); return err },
			"counters":       func() error { _, err := c.CreateCounters(); return err },
			"comp counter":   func() error { _, err := c.CreateCompCounter(); return err },
			"their limits":   func() error { _, err := c.QueryCompCounters(); return err },
			"device memory":  func() error { _, err := c.AllocDM(4096, 0); return err },
			"DMA hint":       func() error { _, err := c.AllocDMAHint(uverbs.DMAHintConfig{}); return err },
			"work queue":     func() error { _, err := pd.CreateWQ(uverbs.WQConfig{CQ: cq, MaxWR: 4}); return err },
			"flow":           func() error { _, err := ud.CreateFlow(uverbs.FlowConfig{}); return err },
			"moderation":     func() error { return cq.Moderate(4, time.Millisecond) },
			"timestamps":     func() error { return verbsCQ(c, abi.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION) },
			"ignore overrun": func() error { return verbsCQ(c, abi.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN) },
			"XRC queue pair": func() error { return verbsQP(pd, uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_XRC_INI, SendCQ: cq}) },
			"raw packets": func() error {
				return verbsQP(pd, uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_RAW_PACKET, SendCQ: cq, RecvCQ: cq})
			},
			"create flags": func() error {
				const flag = abi.IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK
				return verbsQP(pd, uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: cq, RecvCQ: cq, CreateFlags: flag})
			},
			"source number": func() error {
				return verbsQP(pd, uverbs.QPConfig{Type: abi.IB_UVERBS_QPT_UD, SendCQ: cq, RecvCQ: cq, SourceQPN: 77})
			},
			"rate limit": func() error { return a.qp.Modify(uverbs.QPAttr{RateLimit: 1000}, abi.IB_QP_RATE_LIMIT) },
		} {
			err := ask()
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("%s: %v", name, err)
			}
			t.Logf("%s: %v", name, err)
		}
	})
}

// verbsCQ and verbsQP create an object that should not be there, and close it.
func verbsCQ(c *uverbs.Context, flags abi.IBUverbsExCreateCQFlags) error {
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 4, Flags: flags})
	if err != nil {
		return err
	}
	return cq.Close()
}

func verbsQP(pd *uverbs.PD, cfg uverbs.QPConfig) error {
	qp, err := pd.CreateQP(cfg)
	if err != nil {
		return err
	}
	return qp.Close()
}
