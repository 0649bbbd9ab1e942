package uverbs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// GRHSize is the number of bytes that a datagram's receive memory starts with,
// before the message: the GRH, which holds the sender's address. They are there
// even when the completion has no IB_WC_GRH; then they mean nothing.
const GRHSize = 40

// GRH is the global route header that came with a datagram. RoCE v2 delivers
// the IP header in its place.
type GRH struct {
	Src, Dst     GID    // sender, and the own address or a multicast group
	TrafficClass uint8  // DSCP and ECN of IP
	FlowLabel    uint32 // 20 bits; 0 with IPv4
	HopLimit     uint8  // what the packet had left

	// NextHeader is 0x1b on InfiniBand and RoCE v1, 17 (UDP) on RoCE v2.
	NextHeader uint8
}

var errGRH = errors.New("no global route header and no IP header")

// ParseGRH reads the first [GRHSize] bytes of a received datagram. They come
// from the peer and the network; the error says that they make no sense.
func ParseGRH(b []byte) (GRH, error) {
	if len(b) < GRHSize {
		return GRH{}, fmt.Errorf("datagram header of %d bytes, need %d", len(b), GRHSize)
	}
	b = b[:GRHSize]
	v4 := b[20:]
	switch is4, is6 := isIPv4(v4), b[0]>>4 == 6; {
	case is4 && (!is6 || checksum(v4) == 0xffff):
		return parse4(v4), nil
	case is6:
		return parse6(b), nil
	}
	return GRH{}, errGRH
}

// isIPv4 reports whether a header may be one of IPv4, which lies behind 20
// bytes of any content. RoCE v2 has no options. When the bytes before look like
// IPv6, only the checksum tells (ib_get_rdma_header_version).
func isIPv4(h []byte) bool { return h[0] == 0x45 }

// checksum is the ones' complement sum of an IPv4 header: all ones if correct.
func checksum(h []byte) uint16 {
	var sum uint32
	for i := 0; i < len(h); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return uint16(sum)
}

func parse4(h []byte) GRH {
	return GRH{
		Src: GIDFromAddr(netip.AddrFrom4([4]byte(h[12:16]))), Dst: GIDFromAddr(netip.AddrFrom4([4]byte(h[16:20]))),
		TrafficClass: h[1], HopLimit: h[8], NextHeader: h[9],
	}
}

func parse6(h []byte) GRH {
	first := binary.BigEndian.Uint32(h)
	return GRH{
		Src: GID(h[8:24]), Dst: GID(h[24:40]), TrafficClass: uint8(first >> 20), FlowLabel: first & 0xfffff,
		HopLimit: h[7], NextHeader: h[6],
	}
}

// gidType is the type of the GID that received the datagram, as far as the
// header tells.
func (g *GRH) gidType() (t GIDType, known bool) {
	switch g.NextHeader {
	case 0x1b:
		return GIDTypeRoCEv1, true // or of InfiniBand
	case 17:
		return GIDTypeRoCEv2, true
	}
	return 0, false
}

// ownGID chooses from a port's table the GID to answer from: the one that the
// datagram was sent to, or for a multicast group one like the sender's. One of another
// network namespace may be equal; it is of use only to a program without interfaces.
func (g *GRH) ownGID(table []GIDEntry) (GIDEntry, bool) {
	multicast := netip.AddrFrom16(g.Dst).Unmap().IsMulticast()
	typ, known := g.gidType()
	var elsewhere *GIDEntry
	for i, e := range table {
		switch {
		case known && e.Type != typ && e.Type != GIDTypeIB:
		case e.GID == g.Dst && e.OtherNetNS:
			elsewhere = &table[i]
		case e.GID == g.Dst:
			return e, true
		case multicast && !e.OtherNetNS && e.GID.Is4() == g.Src.Is4() && e.GID.IsLinkLocal() == g.Src.IsLinkLocal():
			return e, true
		}
	}
	if elsewhere != nil {
		return *elsewhere, true
	}
	return GIDEntry{}, false
}
