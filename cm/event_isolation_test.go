package cm

import (
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

func pushEvent(q *queue, id *ID, t abi.RDMACMEventType) (ok bool, dropped int) {
	return q.push(&entry{Event: &ucma.Event{Type: t}, id: id})
}

// TestOverflowSparesOthers: in the queue that the IDs of a raw channel share, too
// many events of one ID take no room from another, of whichever kind they are.
func TestOverflowSparesOthers(t *testing.T) {
	var q queue
	loud, quiet := new(ID), new(ID)
	anything := func(abi.RDMACMEventType) bool { return true }

	pushEvent(&q, quiet, abi.RDMA_CM_EVENT_ADDR_CHANGE) // the oldest of all
	for i := range maxRepeated + 10 {
		ok, dropped := pushEvent(&q, loud, abi.RDMA_CM_EVENT_ADDR_CHANGE)
		if !ok || (dropped == 1) != (i >= maxRepeated) {
			t.Fatalf("event %d: taken %v, %d dropped", i, ok, dropped)
		}
	}
	if ok, dropped := pushEvent(&q, quiet, abi.RDMA_CM_EVENT_ADDR_CHANGE); !ok || dropped != 0 {
		t.Errorf("an event of another ID: taken %v, %d dropped", ok, dropped)
	}
	if n := q.count(loud, anything); n != maxRepeated {
		t.Errorf("%d events of the loud ID", n)
	}
	if n := q.count(quiet, anything); n != 2 || q[0].id != quiet || q[len(q)-1].id != quiet {
		t.Errorf("%d events of the quiet ID, want the first and the last of all", n)
	}

	for range maxRequests {
		if ok, _ := pushEvent(&q, loud, abi.RDMA_CM_EVENT_CONNECT_REQUEST); !ok {
			t.Fatal("a request was refused too early")
		}
	}
	if ok, _ := pushEvent(&q, loud, abi.RDMA_CM_EVENT_CONNECT_REQUEST); ok {
		t.Error("a request too many was taken")
	}
	for _, typ := range []abi.RDMACMEventType{abi.RDMA_CM_EVENT_CONNECT_REQUEST, abi.RDMA_CM_EVENT_DISCONNECTED} {
		if ok, dropped := pushEvent(&q, quiet, typ); !ok || dropped != 0 {
			t.Errorf("%v of another ID: taken %v, %d dropped", typ, ok, dropped)
		}
	}

	gone := q.removeAll(func(e *entry) bool { return e.id == loud })
	if len(gone) != maxRepeated+maxRequests || len(q) != 4 || q.count(quiet, anything) != 4 {
		t.Errorf("%d events removed, %d left", len(gone), len(q))
	}
}
