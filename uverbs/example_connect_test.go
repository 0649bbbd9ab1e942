package uverbs_test

import (
	"encoding/json"
	"errors"
	"log"
	"net"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// Without package cm two queue pairs learn of each other in any way the program
// likes; here each side sends a line of JSON over TCP. The queue pair is new,
// and pd's device has an address of the network in question.
func ExampleQP_ToRTR() {
	conn, err := net.Dial("tcp", "10.0.0.1:7471") // or Accept: both sides do the same
	if err != nil {
		log.Fatal(err)
	}
	var qp *uverbs.QP // from PD.CreateQP
	if err := connectByHand(conn, qp); err != nil {
		log.Fatal(err)
	}
}

// place is what one side must know of the other.
type place struct {
	GID uverbs.GID
	QPN uint32
	PSN uint32
	MTU abi.IBMTU
}

func connectByHand(conn net.Conn, qp *uverbs.QP) error {
	c := qp.Context()
	port, err := c.QueryPort(1) // ibv_query_port
	if err != nil {
		return err
	}
	own, err := addressOf(c) // ibv_query_gid
	if err != nil {
		return err
	}
	slot, err := own.PathIndex()
	if err != nil {
		return err
	}
	if err := qp.ToInit(1, uverbs.AccessLocalWrite|uverbs.AccessRemoteWrite); err != nil {
		return err
	}
	// From here on receives can be posted.

	mine := place{GID: own.GID, QPN: qp.Number(), PSN: uverbs.NewPSN(), MTU: port.ActiveMTU}
	enc, dec := json.NewEncoder(conn), json.NewDecoder(conn)
	var peer place
	if err := errors.Join(enc.Encode(mine), dec.Decode(&peer)); err != nil {
		return err
	}
	err = qp.ToRTR(uverbs.RTRConfig{
		AH:      uverbs.AHAttr{DGID: peer.GID, SGIDIndex: slot},
		DestQPN: peer.QPN, PSN: peer.PSN, MTU: min(mine.MTU, peer.MTU),
		MinRNRTimer: 12, // 0.64 ms
	})
	if err != nil {
		return err
	}
	// Timeout 14 is 67 ms.
	err = qp.ToRTS(uverbs.RTSConfig{PSN: mine.PSN, Timeout: 14, RetryCount: 7, RNRRetry: 7})
	if err != nil {
		return err
	}
	// What is sent before the peer is in RTR is lost; without this exchange
	// the first message would be repeated, or, unreliable, missing.
	var ready bool
	return errors.Join(enc.Encode(true), dec.Decode(&ready))
}

// addressOf picks the GID of an IPv4 address.
func addressOf(c *uverbs.Context) (uverbs.GIDEntry, error) {
	gids, err := c.QueryGIDs(1)
	for _, g := range gids {
		if g.GID.Is4() && g.Type == uverbs.GIDTypeRoCEv2 {
			return g, nil
		}
	}
	return uverbs.GIDEntry{}, errors.Join(err, errors.New("no IPv4 address"))
}
