package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestStats(t *testing.T) {
	for name, tt := range map[string]struct {
		times []time.Duration
		sent  uint64
		rtt   rttDoc
		loss  float64
	}{
		"nothing":    {nil, 0, rttDoc{}, 0},
		"all lost":   {nil, 2, rttDoc{}, 100},
		"one":        {[]time.Duration{time.Millisecond}, 1, rttDoc{1, 1, 1, 0}, 0},
		"two of 4":   {[]time.Duration{3 * time.Millisecond, time.Millisecond}, 4, rttDoc{1, 2, 3, 1}, 50},
		"equal ones": {[]time.Duration{100 * time.Microsecond, 100 * time.Microsecond, 100 * time.Microsecond}, 3, rttDoc{0.1, 0.1, 0.1, 0}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := stats{sent: tt.sent}
			for _, d := range tt.times {
				s.add(d)
			}
			if diff := cmp.Diff(tt.rtt, s.rtt()); diff != "" || s.loss() != tt.loss {
				t.Errorf("loss %v, want %v; (-want +got):\n%s", s.loss(), tt.loss, diff)
			}
		})
	}
}
