package main

import (
	"context"
	"net/netip"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/uverbs"
)

// Time limits of looking whether a connection manager still answers. It answers
// itself in under a millisecond; a busy machine takes longer.
const (
	selfTimeout = 3 * time.Second
	selfWait    = time.Second // for the answer alone
	stuckTime   = 7 * time.Second
)

// stuckCM looks whether the connection manager of a device on this machine has
// stopped for good, and returns the finding.
//
// ask tells whether it may be asked.
func (a *app) stuckCM(device string, ask bool) (finding doctor.Stuck, stuck bool) {
	ctx, cancel := context.WithTimeout(context.Background(), stuckTime) // the command's own may be over
	defer cancel()
	for _, d := range a.sys.diagnose().Devices {
		if d.Name == device {
			self := doctor.NotAsked
			if ask {
				self = a.asksItself(ctx, d)
			}
			return doctor.StuckCM(d, a.gsiState(ctx, device), self)
		}
	}
	return doctor.Stuck{}, false
}

// askDevices adds to the facts whether the connection managers of the devices work.
func (a *app) askDevices(ctx context.Context, f *doctor.Facts) {
	for i := range f.Devices {
		d := &f.Devices[i]
		if f.Selected != "" && d.Name != f.Selected {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, stuckTime)
		d.GSI, d.Self = a.gsiState(ctx, d.Name), a.asksItself(ctx, d.Device)
		cancel()
	}
}

// gsiState is the state of queue pair 1 of a device, through which its connection
// manager sends everything; empty when RDMA netlink does not tell, as in a
// container, whose processes see no objects of the kernel.
func (a *app) gsiState(ctx context.Context, device string) string {
	devices, _ := a.sys.holders(ctx) // unknown without
	for _, d := range devices {
		for _, h := range d.Holders {
			for _, q := range h.Queues {
				if d.Name == device && q.Type == "GSI" {
					return q.State
				}
			}
		}
	}
	return ""
}

// asksItself sends the connection manager of a soft-RoCE device a connect request
// from one of its addresses to the same, and tells whether it was answered.
// Nothing leaves the machine. Other devices are not asked: whether their packets
// come back is for their hardware and its switch to say.
func (a *app) asksItself(ctx context.Context, d *uverbs.Device) doctor.Answer {
	if d.Driver() != "rxe" || !a.sys.hearsRoCE() {
		return doctor.NotAsked
	}
	from, ok := a.ownAddress(d)
	if !ok {
		return doctor.NotAsked
	}
	answer := doctor.NotAsked
	for range 2 { // the first request may be lost, as any datagram
		ctx, cancel := context.WithTimeout(ctx, selfTimeout)
		got := a.sys.cmProbe(ctx, cmQuery{Remote: netip.AddrPortFrom(from, selfPort), Local: netip.AddrPortFrom(from, 0)})
		cancel()
		switch {
		case got.answered():
			return doctor.Answers
		case got.State == stateNoAnswer && got.Device == d.Name && got.Took-got.Resolve > selfWait:
			answer = doctor.Silent
		}
	}
	return answer
}

// selfPort is one on which hardly anybody listens; a listener would see a
// connection come and go.
const selfPort = 1

// ownAddress is one of the addresses that a device can be used with.
func (a *app) ownAddress(d *uverbs.Device) (netip.Addr, bool) {
	netdevs, err := a.sys.netdevs()
	if err != nil {
		return netip.Addr{}, false
	}
	rows, _ := a.gidRows(netdevs)
	best := netip.Addr{}
	for _, r := range rows {
		if r.Device == d.Name && r.Unusable == "" && r.Address.IsValid() && (!best.IsValid() || best.IsLinkLocalUnicast()) {
			best = r.Address
		}
	}
	return best, best.IsValid()
}
