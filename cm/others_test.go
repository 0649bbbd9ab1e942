package cm

import (
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestOthersFailureSparesConn: an asynchronous event of a queue pair is a sign for its own
// connection alone.
func TestOthersFailureSparesConn(t *testing.T) {
	r := newRig(t)
	l := r.listen(&ListenConfig{Config: quick})
	failing, _ := r.pair(l, &Dialer{Config: quick})
	client, server := r.pair(l, &Dialer{Config: quick})
	r.verbs.RaiseQP(failing.qp.Number(), abi.IB_EVENT_QP_FATAL)
	waitEnd(t, failing)
	for _, c := range []*Conn{client, server} {
		if c.suspected() || c.Err() != nil {
			t.Errorf("a connection beside the one that failed: suspected %v, %v", c.suspected(), c.Err())
		}
	}
	ctx := testContext(t)
	if err := client.SendCopy(ctx, []byte("alive")); err != nil {
		t.Fatal(err)
	}
	if text, err := recvText(ctx, server); text != "alive" || err != nil {
		t.Errorf("received %q, %v", text, err)
	}
}

// TestAnswered: which failures the peer has answered, so that the own port is not to
// blame, and which say nothing of the peer.
func TestAnswered(t *testing.T) {
	by := map[abi.IBWCStatus]bool{
		abi.IB_WC_REM_ACCESS_ERR: true, abi.IB_WC_REM_INV_REQ_ERR: true, abi.IB_WC_REM_OP_ERR: true,
		abi.IB_WC_RNR_RETRY_EXC_ERR: true, abi.IB_WC_LOC_LEN_ERR: true,
	}
	for status := abi.IB_WC_SUCCESS; status <= abi.IB_WC_GENERAL_ERR; status++ {
		if got := answered(&requestError{failed: &uverbs.CompletionError{Status: status}}); got != by[status] {
			t.Errorf("%v: answered %v, want %v", status, got, by[status])
		}
	}
	if answered(errors.New("no completion")) {
		t.Error("an error that is none of a request counts as answered")
	}
}

// TestAnswerBeforePort: a peer that refused a request is the cause, although the port is
// down by the time it is looked at; a request without an answer leaves it to the port.
func TestAnswerBeforePort(t *testing.T) {
	for status, blamesPort := range map[abi.IBWCStatus]bool{abi.IB_WC_REM_ACCESS_ERR: false, abi.IB_WC_RETRY_EXC_ERR: true} {
		t.Run(status.String(), func(t *testing.T) {
			r := newRig(t)
			client, server := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
			far, near := alloc(t, server, 64, RemoteWrite), alloc(t, client, 64, 0)
			r.verbs.PortDown(status)
			err := client.Write(testContext(t), far.Remote(), near.All())
			waitEnd(t, client)
			var port *PortError
			if errors.As(client.Err(), &port) != blamesPort || err == nil {
				t.Errorf("the write ended with %v, the connection with %v", err, client.Err())
			}
		})
	}
}

// TestDoubtIsOver: who waits for the cause of a sign that turns out to mean nothing gets
// what it had.
func TestDoubtIsOver(t *testing.T) {
	r := newRig(t)
	client, _ := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: quick})
	sign := errors.New("events were lost")
	client.suspect(signPort, sign)
	_, err := get(t, async(func() (int, error) { return 0, client.awaitEnd(testContext(t), sign) }))
	if err != sign || client.Err() != nil {
		t.Errorf("got %v, the connection has %v", err, client.Err())
	}
}

// TestRefusedPostGivesSlotBack: a request that the queue pair does not take leaves its
// place in the send queue free.
func TestRefusedPostGivesSlotBack(t *testing.T) {
	r := newRig(t)
	cfg := *quick
	cfg.SendDepth = 2
	client, server := r.pair(r.listen(&ListenConfig{Config: quick}), &Dialer{Config: &cfg})
	ctx := testContext(t)
	for range 2 * cfg.SendDepth {
		_, err := client.perform(ctx, func(_ uint32, s *sendSlot) error {
			s.wr[0].Opcode = abi.IB_UVERBS_WR_TSO
			return nil
		})
		var posted *postedError
		if !errors.Is(err, uverbs.ErrOpcode) || errors.As(err, &posted) {
			t.Fatalf("error %v, want one that matches ErrOpcode, of a request that was not posted", err)
		}
	}
	if n := len(client.sends.free); n != cfg.SendDepth {
		t.Errorf("%d places are free of %d", n, cfg.SendDepth)
	}
	if err := client.SendCopy(ctx, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if text, err := recvText(ctx, server); text != "x" || err != nil {
		t.Errorf("received %q, %v", text, err)
	}
}

// TestCloseTimeoutIsKept: a peer that does not answer the goodbye is waited for as long
// as Config.CloseTimeout says. The quickest of several shows it on a busy machine too.
func TestCloseTimeoutIsKept(t *testing.T) {
	r := newRig(t)
	cfg := &Config{CloseTimeout: 5 * time.Millisecond}
	l := r.listen(&ListenConfig{Config: quick})
	quickest := time.Hour
	for range 5 {
		client, _ := r.pair(l, &Dialer{Config: cfg})
		r.cm.Mute(abi.RDMA_USER_CM_CMD_DISCONNECT)
		begin := time.Now()
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		took := time.Since(begin)
		r.cm.Unmute()
		if took < cfg.CloseTimeout {
			t.Errorf("closed after %v without an answer", took)
		}
		if quickest = min(quickest, took); quickest < 500*time.Millisecond {
			break
		}
	}
	if quickest >= time.Second {
		t.Errorf("close took %v at least, CloseTimeout is %v", quickest, cfg.CloseTimeout)
	}
}
