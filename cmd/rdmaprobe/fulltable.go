package main

import (
	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// fullTables finds ports of RoCE whose GID table has no free slot, and says which
// addresses got none. Tables whose length is not known are left out.
func (a *app) fullTables(rows []gidpick.Row, netdevs netinfo.Netdevs) (texts []string) {
	for _, d := range a.sys.diagnose().Devices {
		for _, p := range d.Ports {
			var own []gidpick.Row
			for _, r := range rows {
				if r.Device == d.Name && r.Port == p.Number {
					own = append(own, r)
				}
			}
			if d.Protocol != uverbs.ProtocolRoCE || len(own) == 0 {
				continue
			}
			if full, text := doctor.FullTable(p, own, a.sys.gidSlots(d, p.Number), netdevs); full {
				texts = append(texts, d.Name+" "+text)
			}
		}
	}
	return texts
}

// readGIDSlots asks the device for the length of a port's GID table; 0 when it
// cannot be opened.
func readGIDSlots(d *uverbs.Device, port int) int {
	ctx, err := d.Open(nil)
	if err != nil {
		return 0
	}
	defer ctx.Close() // nothing is made with it
	attr, err := ctx.QueryPort(port)
	if err != nil {
		return 0
	}
	return attr.GIDTableLen
}

// addFullTables adds to an error about an address without a device that its GID may
// have found no slot.
func (a *app) addFullTables(e *errorDoc) {
	netdevs, err := a.sys.netdevs()
	if err != nil {
		return // an extra
	}
	rows, _ := a.gidRows(netdevs)
	if full := a.fullTables(rows, netdevs); len(full) > 0 {
		e.Cause += "; " + joinList(full)
	}
}
