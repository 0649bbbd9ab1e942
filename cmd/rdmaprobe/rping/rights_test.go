package rping

import (
	"testing"

	"github.com/purerdma/rdma/cm"
)

// TestRights: the peer reads the start of a ping and writes its sink, and reaches
// nothing of what is for the own device alone.
func TestRights(t *testing.T) {
	if got := rights(true); got != cm.RemoteRead|cm.RemoteWrite {
		t.Errorf("memory for the peer has the rights %#x", got)
	}
	if got := rights(false); got != 0 {
		t.Errorf("own memory has the rights %#x", got)
	}
}
