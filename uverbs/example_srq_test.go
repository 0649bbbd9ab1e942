package uverbs_test

import (
	"context"
	"errors"
	"log"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A server with many peers keeps one supply of receives for all of them. Here
// receives go back as soon as they are used; a program that does so only at
// times can have itself told when few are left, by SRQ.SetLimit.
func ExampleSRQ() {
	var pd *uverbs.PD // from Context.AllocPD
	if err := serveMany(context.Background(), pd); err != nil {
		log.Fatal(err)
	}
}

const (
	supply  = 512  // receives
	msgSize = 4096 // bytes of each
)

func serveMany(ctx context.Context, pd *uverbs.PD) (err error) {
	c := pd.Context()
	srq, err := pd.CreateSRQ(uverbs.SRQConfig{MaxWR: supply})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srq.Close()) }()
	mem, err := uverbs.NewMemory(supply * msgSize)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mr.Close()) }()
	for i := range supply {
		if err := refill(srq, mr, i); err != nil {
			return err
		}
	}
	events, err := c.CreateCompChannel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, events.Close()) }()
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 2 * supply, Channel: events})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cq.Close()) }()
	peers := map[uint32]*uverbs.QP{} // by number
	for range 16 {
		qp, err := pd.CreateQP(uverbs.QPConfig{
			SendCQ: cq, RecvCQ: cq, SRQ: srq, Cap: uverbs.QPCap{MaxSendWR: 16},
		})
		if err != nil {
			return err
		}
		defer qp.Close() // before all of the above
		peers[qp.Number()] = qp
		// … and connect it
	}
	return receive(ctx, cq, srq, mr, func(qpn uint32, msg []byte) { log.Println(peers[qpn], "got", msg) })
}

// refill posts the i-th receive.
func refill(srq *uverbs.SRQ, mr *uverbs.MR, i int) error {
	return srq.PostRecv(uverbs.RecvWR{ID: uint64(i), SGEs: []uverbs.SGE{mr.SGE(i*msgSize, msgSize)}})
}

func receive(ctx context.Context, cq *uverbs.CQ, srq *uverbs.SRQ, mr *uverbs.MR, got func(qpn uint32, msg []byte)) error {
	wcs := make([]uverbs.WC, 32)
	for {
		n, err := cq.Wait(ctx, wcs)
		if err != nil {
			return err
		}
		for i := range wcs[:n] {
			wc := &wcs[i]
			if err := wc.Err(); err != nil {
				return err
			}
			if wc.Opcode != abi.IB_WC_RECV {
				continue // a send
			}
			place := int(wc.ID)
			got(wc.QPN, mr.Bytes()[place*msgSize:][:wc.ByteLen])
			if err := refill(srq, mr, place); err != nil {
				return err
			}
		}
	}
}
