//go:build linux

package uverbs_test

import (
	"context"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// FuzzAnswers lets a kernel answer anything to anything: programs get errors, or
// numbers that make no sense, but nothing else breaks, and all can be closed.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{0xff}, false)
	f.Add([]byte{0, 0, 0, 0x80, 1, 0x7f}, true)
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"), true)
	f.Fuzz(func(t *testing.T, data []byte, byWrite bool) {
		style := uverbs.StyleIoctl
		if byWrite {
			style = uverbs.StyleWrite
		}
		for from := range 12 { // answers before this one are left as they are
			k := fakeverbs.New()
			k.Hardware = true
			k.Scramble = scrambler(data, from)
			c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: style})
			if err != nil {
				continue
			}
			askEverything(c)
			// Handles that make no sense cannot be destroyed.
			if err := c.Abandon(); err != nil {
				t.Error(err)
			}
		}
	})
}

// scrambler writes data over answers, again and again, from the given one on.
func scrambler(data []byte, from int) func([]byte) {
	at, answers := 0, 0
	return func(p []byte) {
		answers++
		if answers <= from || len(data) == 0 {
			return
		}
		for i := range p {
			p[i] ^= data[at%len(data)]
			at++
		}
	}
}

// askEverything makes what can be made and asks for what can be asked, whatever
// comes of it.
func askEverything(c *uverbs.Context) {
	if d, err := c.QueryDevice(); err == nil {
		_ = d.MaxModerationPeriod
	}
	for port := range 3 {
		if p, err := c.QueryPort(port); err == nil {
			_ = p.Mbps() + p.MaxMTU.Bytes()
			_ = p.State.String() + p.Phys.String() + p.ActiveMTU.String()
		}
		_, _ = c.QueryPortSpeed(port)
		if all, err := c.QueryGIDs(port); err == nil {
			for _, e := range all {
				_ = e.GID.String() + e.Type.String()
			}
		}
		_, _ = c.QueryGID(port, 0)
	}
	_, _ = c.QueryCompCounters()
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	r, err := build(c, nil)
	if err == nil {
		useEverything(ctx, r)
	}
	_ = r.close()
	for _, o := range hardwareObjects(c, r) {
		_ = o.Close()
	}
}

func useEverything(ctx context.Context, r *rig) {
	_ = r.qp.ToInit(1, 0)
	_, _ = r.qp.Query()
	_, _ = r.srq.Query()
	_ = r.srq.Resize(20)
	_ = r.cq.Resize(50)
	_ = r.srq.PostRecv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{r.mr.SGE(0, 8)}})
	_ = r.qp.PostRecv(uverbs.RecvWR{ID: 2, SGEs: []uverbs.SGE{r.mr.SGE(0, 8)}})
	_ = r.qp.PostSend(signaled(3))
	_, _ = r.qp.BindMW(4, uverbs.SendSignaled, r.mw, uverbs.MWBind{MR: r.mr, Addr: r.mr.Addr(), Length: 8})
	wcs := make([]uverbs.WC, 8)
	n, _ := r.cq.Wait(ctx, wcs)
	for i := range wcs[:n] {
		if err := wcs[i].Err(); err != nil {
			_ = err.Error()
		}
	}
	if mr, err := r.pd.ImportMR(r.mr.Handle()); err == nil {
		_ = mr.String()
		_ = mr.Close()
	}
	_ = r.mr.Rereg(uverbs.MRChange{Access: new(uverbs.AccessLocalWrite)})
}

// hardwareObjects makes one of each object that soft-RoCE has not.
func hardwareObjects(c *uverbs.Context, r *rig) (all []interface{ Close() error }) {
	if n, err := c.CreateCounters(); err == nil {
		_, _ = n.Read(3, true)
		all = append(all, n)
	}
	if n, err := c.CreateCompCounter(); err == nil {
		_, _ = n.Read(abi.IB_UVERBS_COMP_CNTR_ENTRY_ERR)
		all = append(all, n)
	}
	if x, err := c.OpenXRCD(); err == nil {
		all = append(all, x)
	}
	if r.pd == nil {
		return all
	}
	if dm, err := c.AllocDM(4096, 0); err == nil {
		if mr, err := r.pd.RegDM(dm, 0, 64, 0); err == nil {
			all = append(all, mr)
		}
		all = append(all, dm)
	}
	return all
}
