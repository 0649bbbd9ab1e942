package uverbs_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// Everything that a connected queue pair needs, and the order in which it is
// closed.
func Example() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	dev, err := uverbs.DeviceByName("rxe0")
	if err != nil {
		return err
	}
	c, err := dev.Open(nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	pd, err := c.AllocPD()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pd.Close()) }()
	mem, err := uverbs.NewMemory(1 << 20)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mem.Close()) }()
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite|uverbs.AccessRemoteWrite)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, mr.Close()) }()
	channel, err := c.CreateCompChannel()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, channel.Close()) }()
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 128, Channel: channel})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cq.Close()) }()
	qp, err := pd.CreateQP(uverbs.QPConfig{
		Type: abi.IB_UVERBS_QPT_RC, SendCQ: cq, RecvCQ: cq,
		Cap: uverbs.QPCap{MaxSendWR: 64, MaxRecvWR: 64},
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, qp.Close()) }()
	// … exchange qp.Number() and addresses with the peer, then ToInit, ToRTR,
	// ToRTS; or let package cm do all that.
	return transfer(ctx, qp, cq, mr)
}

func transfer(ctx context.Context, qp *uverbs.QP, cq *uverbs.CQ, mr *uverbs.MR) error {
	copy(mr.Bytes(), "hello")
	err := qp.PostSend(uverbs.SendWR{
		ID: 1, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{mr.SGE(0, 5)},
	})
	if err != nil {
		return err
	}
	var wcs [16]uverbs.WC
	n, err := cq.Wait(ctx, wcs[:])
	if err != nil {
		return err
	}
	for i := range wcs[:n] {
		if err := wcs[i].Err(); err != nil {
			return err
		}
		fmt.Println("request", wcs[i].ID, "is done")
	}
	return nil
}

// A server of datagrams: each is answered along the path that it came. The
// queue pair is of type UD and ready to send, mr is its receive memory, and all
// peers have the same Q_Key.
func ExamplePD_CreateAHFromWC() {
	serve := func(ctx context.Context, qp *uverbs.QP, mr *uverbs.MR, qkey uint32) error {
		for {
			if err := qp.PostRecv(uverbs.RecvWR{SGEs: []uverbs.SGE{mr.SGE(0, mr.Len())}}); err != nil {
				return err
			}
			var wcs [1]uverbs.WC
			if _, err := qp.RecvCQ().Wait(ctx, wcs[:]); err != nil {
				return err
			}
			if err := wcs[0].Err(); err != nil {
				return err
			}
			ah, err := qp.PD().CreateAHFromWC(1, &wcs[0], mr.Bytes())
			if err != nil {
				return err
			}
			err = qp.PostSend(uverbs.SendWR{
				Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("hello back"),
				AH: ah, RemoteQPN: wcs[0].SrcQPN, RemoteQKey: qkey,
			})
			if err == nil {
				_, err = qp.SendCQ().Wait(ctx, wcs[:]) // the handle must live until then
			}
			if err := errors.Join(err, ah.Close()); err != nil {
				return err
			}
		}
	}
	_ = serve
}

// A peer's failed request names its likely causes.
func ExampleWC_Err() {
	wc := uverbs.WC{ID: 7, QPN: 17, Status: abi.IB_WC_RNR_RETRY_EXC_ERR}
	fmt.Println(wc.Err())
	// Output:
	// request 0x7 on QP 0x11: receiver not ready, retry counter exceeded (status 13, vendor code 0x0): the peer had no receive posted after all repetitions (RNRRetry)
}
