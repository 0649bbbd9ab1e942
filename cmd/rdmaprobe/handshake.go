package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// An endInfo is what one end of a ping tells the other about itself, in the
// private data of the handshake. rping neither sends nor reads private data.
type endInfo struct {
	Device    string
	Port      int
	GID       uverbs.GID
	GIDIndex  int // -1 when not known
	MTU       int // bytes of data in a packet that the port allows; 0 when not known
	NetdevMTU int // 0 when not known
	TOS       int
}

const (
	infoMagic   = 0x52505031 // "RPP1"
	infoFixed   = 32
	maxInfoName = cm.MaxConnectData - infoFixed
	noGIDIndex  = 0xffff
)

func (e *endInfo) marshal() []byte {
	b := make([]byte, 0, cm.MaxConnectData)
	b = binary.BigEndian.AppendUint32(b, infoMagic)
	b = append(b, byte(e.TOS), byte(e.Port), 0, 0)
	b = binary.BigEndian.AppendUint16(b, uint16(e.MTU))
	b = binary.BigEndian.AppendUint16(b, uint16(min(e.NetdevMTU, 0xffff)))
	index := uint16(noGIDIndex)
	if e.GIDIndex >= 0 {
		index = uint16(e.GIDIndex)
	}
	b = binary.BigEndian.AppendUint16(b, index)
	b = append(b, 0, 0)
	b = append(b, e.GID[:]...)
	return append(b, e.Device[:min(len(e.Device), maxInfoName)]...)
}

// unmarshalInfo reads what a peer sent; false when it sent something else, or
// nothing.
func unmarshalInfo(b []byte) (e endInfo, ok bool) {
	if len(b) < infoFixed || binary.BigEndian.Uint32(b) != infoMagic {
		return endInfo{}, false
	}
	e.TOS, e.Port = int(b[4]), int(b[5])
	e.MTU, e.NetdevMTU = int(binary.BigEndian.Uint16(b[8:])), int(binary.BigEndian.Uint16(b[10:]))
	e.GIDIndex = int(binary.BigEndian.Uint16(b[12:]))
	if e.GIDIndex == noGIDIndex {
		e.GIDIndex = -1
	}
	copy(e.GID[:], b[16:infoFixed])
	name, _, _ := bytes.Cut(b[infoFixed:], []byte{0})
	e.Device = string(name[:min(len(name), maxInfoName)])
	return e, true
}

// infoOf describes the own end of an ID whose route is known. What cannot be
// found out is left out: the handshake does not depend on it.
func infoOf(id *cm.ID) endInfo {
	e := endInfo{GIDIndex: -1}
	if r, err := id.Route(); err == nil && r.NumPaths > 0 {
		e.GID, e.TOS = uverbs.GID(r.Paths[0].Sgid), int(r.Paths[0].TrafficClass)
		e.Port = int(r.Port)
	}
	d, err := id.Device()
	if err != nil {
		return e
	}
	e.Device = d.Name
	if p, ok := d.Port(e.Port); ok {
		e.NetdevMTU = p.NetdevMTU
	}
	ctx, err := d.Open(nil)
	if err != nil {
		return e
	}
	defer ctx.Close() // nothing is made with it
	if attr, err := ctx.QueryPort(e.Port); err == nil {
		e.MTU = attr.ActiveMTU.Bytes()
	}
	gids, _ := ctx.QueryGIDs(e.Port)
	for _, g := range gids {
		if g.GID == e.GID && g.Type != uverbs.GIDTypeRoCEv1 {
			e.GIDIndex = g.Index
			break
		}
	}
	return e
}

// introduceTime is how long finding out about the own end may take. The dial
// that follows finds the same way, and says what is wrong with it.
const introduceTime = 300 * time.Millisecond

// introduce describes the end that a dial will use; false when it is not known.
func introduce(ctx context.Context, d *cm.Dialer, target string) (endInfo, bool) {
	remote, err := netip.ParseAddrPort(target)
	if err != nil {
		return endInfo{}, false // a name: the dial chooses among its addresses
	}
	dst, err := ucma.SockaddrFrom(remote)
	if err != nil || remote.Addr().IsLoopback() {
		return endInfo{}, false
	}
	id, err := cm.NewID(nil)
	if err != nil {
		return endInfo{}, false
	}
	defer id.Close() // it holds nothing that could be lost
	var src ucma.Sockaddr
	if d.LocalAddr.IsValid() {
		if src, err = ucma.SockaddrFrom(netip.AddrPortFrom(d.LocalAddr.Addr(), 0)); err != nil {
			return endInfo{}, false
		}
	}
	ctx, cancel := context.WithTimeout(ctx, introduceTime)
	defer cancel()
	if err := id.ResolveAddr(ctx, src, dst); err != nil {
		return endInfo{}, false
	}
	if d.TOS != 0 {
		_ = id.SetTOS(d.TOS) // the dial says what is wrong
	}
	if err := id.ResolveRoute(ctx); err != nil {
		return endInfo{}, false
	}
	return infoOf(id), true
}

// endDoc is an endInfo in JSON.
type endDoc struct {
	Device    string `json:"device" doc:"RDMA device"`
	Port      int    `json:"port" doc:"its port"`
	GID       string `json:"gid" doc:"GID in use, in IPv6 notation"`
	GIDIndex  int    `json:"gid_index" doc:"its slot in the table; -1 when not known"`
	MTU       int    `json:"mtu" doc:"bytes of data in a packet that the port allows; 0 when not known"`
	NetdevMTU int    `json:"netdev_mtu" doc:"MTU of the network device; 0 when not known"`
	TOS       int    `json:"tos" doc:"traffic class: type of service of the packets"`
}

func (e endInfo) doc() *endDoc {
	return &endDoc{Device: e.Device, Port: e.Port, GID: e.GID.String(), GIDIndex: e.GIDIndex, MTU: e.MTU, NetdevMTU: e.NetdevMTU, TOS: e.TOS}
}

// differences says what is not the same at both ends though it should be.
// pathMTU is what packets of the connection carry, as the queue pair says; 0 when not
// known. The connection manager takes it from this end's port alone, whatever the
// peer's allows (cma_resolve_iboe_route).
func differences(you, peer endInfo, pathMTU int) []string {
	out := []string{}
	if you.MTU != peer.MTU && you.MTU != 0 && peer.MTU != 0 {
		text := fmt.Sprintf("port MTU %d -> %d", you.MTU, peer.MTU)
		if pathMTU != 0 {
			text += fmt.Sprintf(": packets of this connection carry up to %d bytes", pathMTU)
		}
		if pathMTU > min(you.MTU, peer.MTU) {
			text += ", more than the smaller port's: large messages may be lost"
		}
		out = append(out, text+"; give both network devices the same MTU")
	} else if you.NetdevMTU != peer.NetdevMTU && you.NetdevMTU != 0 && peer.NetdevMTU != 0 {
		out = append(out, fmt.Sprintf("network device's MTU %d -> %d", you.NetdevMTU, peer.NetdevMTU))
	}
	if you.TOS != peer.TOS {
		out = append(out, fmt.Sprintf("ToS %d -> %d: the two directions have different priorities", you.TOS, peer.TOS))
	}
	if a, b := you.GID.Addr(), peer.GID.Addr(); a.Is4() != b.Is4() {
		out = append(out, fmt.Sprintf("GID %v -> %v: of different kinds", you.GID, peer.GID))
	}
	return out
}

// endRows is the table "you -> peer".
func endRows(you, peer endInfo, pathMTU int) [][]string {
	number := func(n int, unknown int) string {
		if n == unknown {
			return ""
		}
		return strconv.Itoa(n)
	}
	return [][]string{
		{"END", "YOU", "PEER"},
		{"device", you.Device, peer.Device},
		{"GID", fmt.Sprintf("%v (#%s)", you.GID, orDash(number(you.GIDIndex, -1))), fmt.Sprintf("%v (#%s)", peer.GID, orDash(number(peer.GIDIndex, -1)))},
		{"packet MTU", number(pathMTU, 0), ""},
		{"port MTU", number(you.MTU, 0), number(peer.MTU, 0)},
		{"netdev MTU", number(you.NetdevMTU, 0), number(peer.NetdevMTU, 0)},
		{"ToS", number(you.TOS, -1), number(peer.TOS, -1)},
	}
}
