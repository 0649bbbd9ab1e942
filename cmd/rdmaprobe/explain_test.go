package main

import (
	"strings"
	"testing"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
)

// TestExplain: each id has a text of its own, and only its own.
func TestExplain(t *testing.T) {
	for _, r := range doctor.Rules {
		got := emptyWorld().command(t, "explain", strings.ToLower(r.ID))
		wantCode(t, got, exitOK)
		if !strings.Contains(got.stdout, r.ID+" "+r.Title) || len(section(r.ID)) < 20 || strings.Contains(section(r.ID), "### ") {
			t.Errorf("%s: %s", r.ID, got.stdout)
		}
		wantNarrow(t, got)
	}
	all := emptyWorld().command(t, "explain")
	if n := strings.Count(all.stdout, "RP-"); n != len(doctor.Rules) {
		t.Errorf("%d of %d findings listed", n, len(doctor.Rules))
	}
	wantNarrow(t, all)
}
