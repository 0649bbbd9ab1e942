package uverbs_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// Small buffers out of large registrations. A slice knows its region and its
// bounds, and cannot be sent any more once its buffer is given back.
func ExampleArena() {
	var qp *uverbs.QP // connected
	arena, err := qp.PD().NewArena(uverbs.ArenaConfig{Limit: 64 << 20})
	if err != nil {
		log.Fatal(err)
	}
	defer arena.Close()
	buf, err := arena.Alloc(4096)
	if errors.Is(err, uverbs.ErrArenaFull) {
		fmt.Println("give buffers back first")
		return
	}
	if err != nil {
		log.Fatal(err) // with the numbers, when RLIMIT_MEMLOCK is the reason
	}
	header := buf.Slice(0, 64)
	copy(header.Bytes(), "hello")
	err = qp.PostSend(uverbs.SendWR{
		ID: 1, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{header.SGE()},
	})
	if err != nil {
		log.Fatal(err)
	}
	// When the request is complete:
	if err := buf.Close(); err != nil {
		log.Fatal(err)
	}
}
