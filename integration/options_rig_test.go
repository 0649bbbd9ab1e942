//go:build linux

package integration

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// optionRig makes connected pairs on soft-RoCE and on soft-iWARP. An option that
// ends its connection does no harm to others: each has a pair of its own.
type optionRig struct {
	t  *testing.T
	c  *uverbs.Context
	pd *uverbs.PD
}

// eachOption runs a test through both of the kernel's interfaces, on either driver.
func eachOption(t *testing.T, f func(r optionRig)) {
	requireRDMA(t)
	verbsEach(t, func(t *testing.T, c *uverbs.Context) { f(optionRig{t, c, verbsPD(t, c)}) })
}

// in is the rig within a subtest.
func (r optionRig) in(name string, f func(r optionRig)) {
	r.t.Run(name, func(t *testing.T) { f(optionRig{t, r.c, r.pd}) })
}

// pair is two connected ends. change is of the queue pair of b, over which a message
// has come before: on iWARP the side that connects is the first to send.
func (r optionRig) pair(change func(*uverbs.QPConfig)) (a, b *verbsSide) {
	r.t.Helper()
	if change == nil {
		change = func(*uverbs.QPConfig) {}
	}
	if onIWARP() {
		e := siwConnect(r.t, r.pd, change)
		idsPing(r.t, e.client, e.server)
		return e.client, e.server
	}
	a, b = r.side(nil), r.side(change)
	// Not with 7 retries, which are without end: 5.10 answers a write that it refuses
	// with silence (TestVerbsRemoteAccessError).
	gid := verbsGID(r.t, r.c)
	a.connect(gid, b)
	b.connect(gid, a)
	return a, b
}

// side is an end of soft-RoCE that is not connected.
func (r optionRig) side(change func(*uverbs.QPConfig)) *verbsSide {
	r.t.Helper()
	s := rxeSide(r.t, r.pd, verbsChannel(r.t, r.c), rxeConfig{typ: abi.IB_UVERBS_QPT_RC, cap: verbsCap})
	if change == nil {
		return s
	}
	cfg := uverbs.QPConfig{SendCQ: s.cq, RecvCQ: s.cq, Cap: verbsCap}
	change(&cfg)
	var err error
	if s.qp, err = r.pd.CreateQP(cfg); err != nil {
		r.t.Fatal(err)
	}
	verbsClose(r.t, s.qp)
	return s
}

// region registers the memory of one end once more, for as long as the test goes on.
func (r optionRig) region(s *verbsSide, access uverbs.Access) (*uverbs.MR, error) {
	mr, err := r.pd.RegMR(s.mr.Memory(), access)
	if err == nil {
		verbsClose(r.t, mr)
	}
	return mr, err
}

// refused wants an option to be refused as one that is not there, where it is not;
// where it is, it wants no error, and says whether to look at what it does.
func (r optionRig) refused(works bool, err error) bool {
	r.t.Helper()
	switch {
	case works && err != nil:
		r.t.Fatalf("refused: %v", err)
	case !works && !errors.Is(err, errors.ErrUnsupported):
		r.t.Fatalf("%v, want an error that matches errors.ErrUnsupported", err)
	}
	return !works
}

// write has one end write the first 8 bytes of its memory into the other's.
func (r optionRig) write(s *verbsSide, addr uint64, rkey uint32) abi.IBWCStatus {
	r.t.Helper()
	s.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled, RemoteAddr: addr, RKey: rkey,
		SGEs: []uverbs.SGE{s.mr.SGE(0, 8)}})
	return rxeWait(r.t, s, 1)[0].Status
}
