//lint:file-ignore SA4006 the walk leaves most handling of errors out

package docs

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// active is the first part of the walk, so that the compiler sees it.
func active(ctx context.Context, host string) ([]byte, error) {
	ways, err := cm.ResolveAddrInfo(ctx, host, "7471", nil) // rdma_getaddrinfo
	if err != nil {
		return nil, err
	}
	id, err := cm.NewEndpoint(ctx, &ways[0], nil) // rdma_create_id, rdma_resolve_addr, rdma_resolve_route
	if err != nil {
		return nil, err // an address of no RDMA interface, no route, nobody there
	}

	dev, err := id.Device() // id->verbs
	verbs, err := dev.Open(nil)
	pd, err := verbs.AllocPD()               // id->pd
	events, err := verbs.CreateCompChannel() // ibv_create_comp_channel
	cq, err := verbs.CreateCQ(uverbs.CQConfig{Entries: 8, Channel: events})
	qp, err := id.CreateQP(pd, uverbs.QPConfig{ // rdma_create_qp; now in INIT
		SendCQ: cq, RecvCQ: cq,
		Cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4},
	})

	mem, err := uverbs.NewMemory(4096)                                       // malloc, but outside the Go heap
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite)                        // rdma_reg_msgs
	err = qp.PostRecv(uverbs.RecvWR{SGEs: []uverbs.SGE{mr.SGE(2048, 2048)}}) // rdma_post_recv

	_, err = id.Connect(ctx, &ucma.ConnParam{ // rdma_connect, and the wait for the answer
		QPNum: qp.Number(), RetryCount: 6, RNRRetryCount: 7,
	}, ucma.ECE{})
	if err != nil {
		return nil, err // cm.ErrNoListener, cm.ErrRejected, the context's error
	}
	err = id.ModifyQP(qp, abi.IB_QPS_RTR) // C does these three inside rdma_get_cm_event
	err = id.ModifyQP(qp, abi.IB_QPS_RTS)
	err = id.Establish()

	n := copy(mr.Bytes(), "hello")
	err = qp.PostSend(uverbs.SendWR{ // rdma_post_send
		Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{mr.SGE(0, n)},
	})
	answer, err := sentAndReceived(ctx, cq, mr)

	err = id.Disconnect() // rdma_disconnect
	err = id.WaitDisconnected(ctx)
	return answer, errors.Join(err, qp.Close(), id.Close(), // rdma_destroy_qp, rdma_destroy_id
		mr.Close(), mem.Close(), cq.Close(), events.Close(), pd.Close(), verbs.Close())
}

// sentAndReceived is the second part.
func sentAndReceived(ctx context.Context, cq *uverbs.CQ, mr *uverbs.MR) (got []byte, err error) {
	wcs := make([]uverbs.WC, 4)
	for left := 2; left > 0; { // one send, one receive
		n, err := cq.Wait(ctx, wcs) // rdma_get_send_comp, rdma_get_recv_comp
		if err != nil {
			return nil, err
		}
		left -= n
		for _, wc := range wcs[:n] {
			if err := wc.Err(); err != nil {
				return nil, err
			}
			if wc.Opcode == abi.IB_WC_RECV {
				got = append(got, mr.Bytes()[2048:][:wc.ByteLen]...)
			}
		}
	}
	return got, nil
}

// passive is the third part.
func passive(ctx context.Context, host string) error {
	ways, err := cm.ResolveAddrInfo(ctx, host, "7471", &cm.AddrInfoHints{Passive: true})
	if err != nil {
		return err
	}
	l, err := cm.NewEndpoint(ctx, &ways[0], nil) // rdma_create_id, rdma_bind_addr
	if err != nil {
		return err // cm.ErrAddrInUse, cm.ErrNoDevice
	}
	err = l.Listen(0)                   // rdma_listen
	id, peer, err := l.NextRequest(ctx) // rdma_get_request, or CONNECT_REQUEST from rdma_get_cm_event
	if err != nil {
		return err
	}
	if peer.Conn().InitiatorDepth > 16 { // event->param.conn
		return errors.Join(id.Reject([]byte("too many reads")), id.Close(), l.Close()) // rdma_reject
	}

	dev, err := id.Device()
	verbs, err := dev.Open(nil)
	pd, err := verbs.AllocPD()
	events, err := verbs.CreateCompChannel()
	cq, err := verbs.CreateCQ(uverbs.CQConfig{Entries: 8, Channel: events})
	qp, err := id.CreateQP(pd, uverbs.QPConfig{
		SendCQ: cq, RecvCQ: cq,
		Cap: uverbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4},
	})
	mem, err := uverbs.NewMemory(4096)
	mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite)
	err = qp.PostRecv(uverbs.RecvWR{SGEs: []uverbs.SGE{mr.SGE(2048, 2048)}})

	err = id.ModifyQP(qp, abi.IB_QPS_RTR) // C does these two inside rdma_accept
	err = id.ModifyQP(qp, abi.IB_QPS_RTS)
	err = id.Accept(&ucma.ConnParam{QPNum: qp.Number(), RNRRetryCount: 7}, ucma.ECE{})
	err = id.WaitEstablished(ctx) // RDMA_CM_EVENT_ESTABLISHED

	n := copy(mr.Bytes(), "welcome")
	err = qp.PostSend(uverbs.SendWR{
		Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{mr.SGE(0, n)},
	})
	_, err = sentAndReceived(ctx, cq, mr)

	err = errors.Join(err, id.WaitDisconnected(ctx), id.Disconnect())
	return errors.Join(err, qp.Close(), id.Close(), l.Close(),
		mr.Close(), mem.Close(), cq.Close(), events.Close(), pd.Close(), verbs.Close())
}

const librdmacm = "librdmacm.md"

// The symbols that librdmacm.map exports (rdma-core 64), and the inline
// functions of rdma_cma.h and rdma_verbs.h.
const librdmacmSymbols = `
rdma_create_event_channel rdma_destroy_event_channel rdma_create_id rdma_destroy_id rdma_bind_addr
rdma_resolve_addr rdma_resolve_route rdma_create_qp rdma_destroy_qp rdma_connect rdma_listen rdma_accept
rdma_reject rdma_notify rdma_disconnect rdma_get_cm_event rdma_ack_cm_event rdma_get_src_port
rdma_get_dst_port rdma_join_multicast rdma_leave_multicast rdma_get_devices rdma_free_devices
rdma_event_str rdma_set_option rdma_migrate_id rdma_getaddrinfo rdma_freeaddrinfo rdma_get_request
rdma_create_ep rdma_destroy_ep rdma_create_srq rdma_destroy_srq rdma_create_srq_ex rdma_create_qp_ex
rdma_join_multicast_ex rdma_establish rdma_init_qp_attr rdma_get_remote_ece rdma_reject_ece
rdma_set_local_ece rdma_query_addrinfo rdma_resolve_addrinfo rdma_write_cm_event
rsocket rbind rlisten raccept rconnect rshutdown rclose rrecv rrecvfrom rrecvmsg rsend rsendto rsendmsg
rread rreadv rwrite rwritev rpoll rselect rgetpeername rgetsockname rsetsockopt rgetsockopt rfcntl
riomap riounmap riowrite repoll_create repoll_ctl repoll_wait
rdma_get_local_addr rdma_get_peer_addr rdma_seterrno rdma_reg_msgs rdma_reg_read rdma_reg_write
rdma_dereg_mr rdma_post_recv rdma_post_recvv rdma_post_send rdma_post_sendv rdma_post_read
rdma_post_readv rdma_post_write rdma_post_writev rdma_post_ud_send rdma_get_send_comp rdma_get_recv_comp`

// TestNames: what the document names in the form package.Name is declared, and
// the tests it names exist in the package it says.
func TestNames(t *testing.T) { checkNames(t, librdmacm, 200) }

// TestRows: one row for each symbol, with every cell filled.
func TestRows(t *testing.T) {
	want := count(strings.Fields(librdmacmSymbols)...)
	if len(want) != 74+18 {
		t.Errorf("%d symbols in this test", len(want))
	}
	checkRows(t, librdmacm, want, func(row []string) {
		if len(row) != 4 {
			t.Errorf("%d cells in %s", len(row), row)
		}
	})
}

// TestWalk: the document shows the functions above.
func TestWalk(t *testing.T) {
	_, _ = active, passive // compiling them is the point
	checkCode(t, librdmacm, "librdmacm_test.go", "active", "sentAndReceived", "passive")
}
