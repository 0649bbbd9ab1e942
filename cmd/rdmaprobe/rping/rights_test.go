package rping

import (
	"testing"

	"github.com/purerdma/rdma/cm"
)

// TestRights: the peer reads the start of a ping and writes its sink, and reaches
// nothing of what is for the own device alone.
func TestRights(t *testing.T) {
	for r, want := range map[Rights]cm.Access{Private: 0, PeerReads: cm.RemoteRead, PeerWrites: cm.RemoteWrite} {
		if got := r.access(); got != want {
			t.Errorf("rights %d are %#x, want %#x", r, got, want)
		}
	}
}
