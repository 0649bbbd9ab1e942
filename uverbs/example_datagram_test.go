package uverbs_test

import (
	"context"
	"errors"
	"log"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// A datagram to a peer whose GID, queue pair number and Q_Key are known. One
// queue pair serves any number of peers; each needs an address handle, which
// may be kept.
func ExamplePD_CreateAH() {
	var (
		qp   *uverbs.QP // of type IB_UVERBS_QPT_UD, new
		peer uverbs.GID
		qpn  uint32
	)
	if err := greet(context.Background(), qp, peer, qpn); err != nil {
		log.Fatal(err)
	}
}

// qkey is the Q_Key that all sides of this program have agreed on.
const qkey = 0x1234

func greet(ctx context.Context, qp *uverbs.QP, peer uverbs.GID, qpn uint32) (err error) {
	err = errors.Join(
		qp.ToInitUD(1, qkey),
		qp.ToRTR(uverbs.RTRConfig{}), // a datagram queue pair has no peer
		qp.ToRTS(uverbs.RTSConfig{PSN: uverbs.NewPSN()}),
	)
	if err != nil {
		return err
	}
	own, err := addressOf(qp.Context()) // of the same kind as the peer's
	if err != nil {
		return err
	}
	slot, err := own.PathIndex()
	if err != nil {
		return err
	}
	ah, err := qp.PD().CreateAH(uverbs.AHAttr{DGID: peer, SGIDIndex: slot})
	if err != nil {
		return err // ETIMEDOUT, EHOSTUNREACH: nobody has this address
	}
	defer func() { err = errors.Join(err, ah.Close()) }()
	err = qp.PostSend(uverbs.SendWR{
		Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, Inline: []byte("hello"),
		AH: ah, RemoteQPN: qpn, RemoteQKey: qkey,
	})
	if err != nil {
		return err
	}
	// The completion says that the datagram was sent, not that anybody got it.
	var wcs [1]uverbs.WC
	if _, err := qp.SendCQ().Wait(ctx, wcs[:]); err != nil {
		return err
	}
	return wcs[0].Err()
}
