//go:build linux

package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// gcEnd is what the other side of TestGCStress needs to know to connect.
type gcEnd struct{ QPN, PSN uint32 }

// gcOrder tells the peer where a pattern is. The peer reads it by RDMA, compares
// it, and writes the pattern of the next seed.
type gcOrder struct {
	Addr     uint64 // of the piece
	RKey     uint32
	Seed, At int // of the pattern, and where in it the piece begins
	Len      int
}

// gcResult is what came of an order; empty means that all was right.
type gcResult struct{ Trouble string }

// gcPeer is the peer of TestGCStress: a process of its own, with a collector of
// its own.
type gcPeer struct {
	mu  sync.Mutex // one order at a time
	in  *json.Encoder
	out *json.Decoder
}

const gcPeerEnv = "RDMA_GC_PEER"

// startGCPeer starts the peer and connects own with it.
func startGCPeer(t *testing.T, own *verbsSide) *gcPeer {
	t.Helper()
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestChildGCPeer$")
	cmd.Env = append(os.Environ(), gcPeerEnv+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // which ends it
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the peer: %v", err)
		}
	})
	p := &gcPeer{in: json.NewEncoder(in), out: json.NewDecoder(out)}
	var end gcEnd
	err = errors.Join(p.in.Encode(gcEnd{own.qp.Number(), own.psn}), p.out.Decode(&end))
	if err == nil {
		err = gcConnect(own, verbsGID(t, own.qp.Context()), end)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// check has the peer verify a piece, and write another pattern there.
func (p *gcPeer) check(o gcOrder) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var r gcResult
	if err := errors.Join(p.in.Encode(o), p.out.Decode(&r)); err != nil {
		return err
	}
	if r.Trouble != "" {
		return errors.New(r.Trouble)
	}
	return nil
}

func gcConnect(s *verbsSide, gid uverbs.GIDEntry, peer gcEnd) error {
	path := uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), Port: 1}
	return errors.Join(s.qp.ToInit(1, rxeAccess),
		s.qp.ToRTR(uverbs.RTRConfig{AH: path, DestQPN: peer.QPN, PSN: peer.PSN, MaxDestRdAtomic: 4, MinRNRTimer: 1}),
		s.qp.ToRTS(uverbs.RTSConfig{PSN: s.psn, Timeout: 14, RetryCount: 7, RNRRetry: 7, MaxRdAtomic: 4}))
}

// TestChildGCPeer is the peer's process.
func TestChildGCPeer(t *testing.T) {
	if os.Getenv(gcPeerEnv) == "" {
		return // nobody's child
	}
	s := gcSide(t)
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	var end gcEnd
	err := errors.Join(in.Decode(&end), out.Encode(gcEnd{s.qp.Number(), s.psn}))
	if err == nil {
		err = gcConnect(s, verbsGID(t, s.qp.Context()), end)
	}
	for err == nil {
		var o gcOrder
		if err = in.Decode(&o); err == nil {
			err = out.Encode(gcVerify(s, o))
		}
	}
	if !errors.Is(err, io.EOF) {
		fmt.Fprintln(os.Stderr, "peer:", err) // standard output is for results
		t.Fail()
	}
}

// gcSide makes a queue pair in a context of its own.
func gcSide(t *testing.T) *verbsSide {
	t.Helper()
	c, err := verbsDevice(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, c)
	return rxeSide(t, verbsPD(t, c), verbsChannel(t, c), rxeConfig{cap: verbsCap})
}

// gcVerify carries out an order.
func gcVerify(s *verbsSide, o gcOrder) gcResult {
	got, want := s.mr.Bytes()[:o.Len], gcPattern(o.Seed, o.At+o.Len)[o.At:]
	clear(got)
	if err := gcTransfer(s, abi.IB_UVERBS_WR_RDMA_READ, o); err != nil {
		return gcResult{fmt.Sprintf("read: %v", err)}
	}
	if err := gcDiffer("read by the peer", got, want); err != nil {
		return gcResult{err.Error()}
	}
	copy(got, gcPattern(o.Seed+1, o.Len))
	if err := gcTransfer(s, abi.IB_UVERBS_WR_RDMA_WRITE, o); err != nil {
		return gcResult{fmt.Sprintf("write: %v", err)}
	}
	return gcResult{}
}

func gcTransfer(s *verbsSide, op abi.IBUverbsWROpcode, o gcOrder) error {
	err := s.qp.PostSend(uverbs.SendWR{Opcode: op, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{s.mr.SGE(0, o.Len)}, RemoteAddr: o.Addr, RKey: o.RKey})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), verbsTimeout)
	defer cancel()
	var wcs [1]uverbs.WC
	if _, err := s.cq.Wait(ctx, wcs[:]); err != nil {
		return err
	}
	return wcs[0].Err()
}
