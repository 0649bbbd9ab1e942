package siw

import (
	"unsafe"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// pollOne takes one completion off a queue.
func pollOne(q provider.CQ, wc *provider.WC) bool { return q.Poll(unsafe.Slice(wc, 1)) == 1 }
