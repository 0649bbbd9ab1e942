package doctor

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
	"github.com/purerdma/rdma/uverbs"
)

// FullTable reports whether a port's GID table of so many slots is full, and says
// which addresses of the port's interface have no GID for that reason. The kernel
// drops them without a word (ib_cache_gid_add). 0 slots stand for not known.
func FullTable(p uverbs.PortInfo, rows []gidpick.Row, slots int, netdevs netinfo.Netdevs) (full bool, text string) {
	if slots <= 0 || len(rows) < slots {
		return false, ""
	}
	text = fmt.Sprintf("port %d: GID table full: %d of %d", p.Number, len(rows), slots)
	if without := withoutGID(p, rows, netdevs); len(without) > 0 {
		text += "; without a GID: " + some(without)
	}
	return true, text
}

// withoutGID lists the addresses of a port's interface that no GID stands for.
func withoutGID(p uverbs.PortInfo, rows []gidpick.Row, netdevs netinfo.Netdevs) (out []string) {
	own, _ := gidpick.PortNetdev(p, netdevs)
	for _, a := range own.Addrs {
		stands := func(r gidpick.Row) bool { return r.Address.WithZone("") == a.Addr() }
		if a.Addr() != (netip.Addr{}) && !slices.ContainsFunc(rows, stands) {
			out = append(out, a.Addr().String())
		}
	}
	return out
}

// some names a few, and counts the others.
func some(list []string) string {
	const few = 3
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:few], ", "), len(list)-few)
}

func checkFullTable(f *Facts, r *Result, d Device, p Port) {
	if p.Attr == nil {
		return
	}
	if full, text := FullTable(p.PortInfo, p.GIDs, p.Attr.GIDTableLen, f.Netdevs); full {
		r.find("RP-GID-008", d.Name, text+": no further address can be used", fmt.Sprintf("gid_tbl_len %d, as many slots are used", p.Attr.GIDTableLen),
			"take addresses away that are not needed, VLANs and containers' included, or use another device")
	}
}
