//go:build linux

package uverbs_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

func TestQueryExtended(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		k.Hardware = true
		d, err := c.QueryDevice()
		if err != nil {
			t.Fatal(err)
		}
		if !d.OnDemand || !d.ImplicitOnDemand || d.ClockKHz != 78125 || d.TimestampMask != 1<<48-1 || d.MaxWQ != 7 ||
			d.MaxWQTables != 5 || d.MaxWQTableSize != 128 || d.MaxDM != 1<<17 ||
			d.MaxModerationCount != 100 || d.MaxModerationPeriod != 200*time.Microsecond {
			t.Errorf("device: %+v", d)
		}
		p, err := c.QueryPort(1)
		if err != nil {
			t.Fatal(err)
		}
		if p.ActiveWidth != abi.IB_WIDTH_4X || p.ActiveSpeed != abi.IB_SPEED_EDR || p.Mbps() != 100_000 || p.CapFlags != 1<<16 || p.QKeyViolations != 3 {
			t.Errorf("port: %+v", p)
		}
		if native := c.CallStyle() == uverbs.StyleIoctl; native != (p.CapFlags2 == 2) {
			t.Errorf("abilities in the second word: %#x", p.CapFlags2)
		}
	})
}

func TestQueryPortSpeed(t *testing.T) {
	eachStyle(t, func(t *testing.T, k *fakeverbs.Kernel, c *uverbs.Context) {
		for _, hardware := range []bool{false, true} {
			k.Hardware = hardware
			want := 100_000 // of width and speed
			if hardware && c.CallStyle() == uverbs.StyleIoctl {
				want = 400_000
			}
			if got, err := c.QueryPortSpeed(1); err != nil || got != want {
				t.Errorf("%d Mbit/s, want %d: %v", got, want, err)
			}
			if _, err := c.QueryPortSpeed(2); !errors.Is(err, syscall.EINVAL) {
				t.Errorf("port 2: %v", err)
			}
		}
	})
}
