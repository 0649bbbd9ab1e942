package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPace: each step says how long the one before it took.
func TestPace(t *testing.T) {
	const s = time.Second
	now := time.Now()
	p := newPace(s, now)
	var got []time.Duration
	for _, took := range []time.Duration{s / 4, 0, s / 2, time.Hour, s / 4, 0, 5 * s / 2, s / 4} {
		now = now.Add(took)
		wait := p.next(now)
		got = append(got, wait)
		now = now.Add(wait)
	}
	want := []time.Duration{3 * s / 4, s, s / 2, 0, 3 * s / 4, s, 0, 3 * s / 4}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("waits (-want +got):\n%s", diff)
	}
	if wait := newPace(0, now).next(now); wait != 0 {
		t.Errorf("without an interval it waits %v", wait)
	}
}
