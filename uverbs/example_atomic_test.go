package uverbs_test

import (
	"context"
	"encoding/binary"
	"log"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// Tickets from a counter in a peer's memory, without the peer's processor. The
// peer registered 8 bytes with AccessRemoteAtomic and AccessLocalWrite, allows
// AccessRemoteAtomic on its queue pair, and told address and key.
func ExampleSendWR_atomic() {
	var (
		qp   *uverbs.QP // connected, with MaxRdAtomic of at least 1
		mr   *uverbs.MR // own memory, at least 8 bytes
		addr uint64     // the peer's, a multiple of 8
		rkey uint32
	)
	ticket, err := takeTicket(context.Background(), qp, mr, addr, rkey)
	if err != nil {
		log.Fatal(err)
	}
	log.Println("ticket", ticket)
}

func takeTicket(ctx context.Context, qp *uverbs.QP, mr *uverbs.MR, addr uint64, rkey uint32) (uint64, error) {
	err := qp.PostSend(uverbs.SendWR{
		Opcode: abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, Flags: uverbs.SendSignaled,
		RemoteAddr: addr, RKey: rkey, CompareAdd: 1,
		SGEs: []uverbs.SGE{mr.SGE(0, 8)}, // where the value before goes
	})
	if err != nil {
		return 0, err
	}
	var wcs [1]uverbs.WC
	if _, err := qp.SendCQ().Wait(ctx, wcs[:]); err != nil {
		return 0, err
	}
	if err := wcs[0].Err(); err != nil {
		return 0, err // IB_WC_REM_ACCESS_ERR: wrong key or address, or not allowed
	}
	return binary.NativeEndian.Uint64(mr.Bytes()), nil
}
