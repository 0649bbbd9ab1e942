package uverbs

import (
	"encoding/binary"
	"net/netip"

	"github.com/purerdma/rdma/abi"
)

// A FlowSpec is one header that packets of a rule must have, or one thing that is
// done with them. Inner headers of a tunnel are those of an [InnerFlow].
type FlowSpec interface {
	// appendSpec adds the kernel's form.
	appendSpec(b []byte) []byte
}

// FlowEth matches Ethernet: the bits of Value that are set in Mask.
type FlowEth struct{ Value, Mask FlowEthFields }

// FlowEthFields are what can be matched of Ethernet.
type FlowEthFields struct {
	Dst, Src  [6]byte
	EtherType uint16
	VLAN      uint16 // the tag: priority and number
}

// FlowIPv4 matches IPv4: the bits of Value that are set in Mask.
type FlowIPv4 struct{ Value, Mask FlowIPv4Fields }

// FlowIPv4Fields are what can be matched of IPv4. Zero addresses are 0.0.0.0.
type FlowIPv4Fields struct {
	Src, Dst           netip.Addr
	Protocol, TOS, TTL uint8
	Flags              uint8 // of fragmentation
}

// FlowIPv6 matches IPv6: the bits of Value that are set in Mask.
type FlowIPv6 struct{ Value, Mask FlowIPv6Fields }

// FlowIPv6Fields are what can be matched of IPv6. Zero addresses are ::.
type FlowIPv6Fields struct {
	Src, Dst                           netip.Addr
	FlowLabel                          uint32
	NextHeader, TrafficClass, HopLimit uint8
}

// FlowTCP and FlowUDP match ports: the bits of Value that are set in Mask.
type (
	FlowTCP struct{ Value, Mask FlowPorts }
	FlowUDP struct{ Value, Mask FlowPorts }
)

// FlowPorts are ports of TCP or UDP.
type FlowPorts struct{ Dst, Src uint16 }

// FlowVXLAN matches the network of a VXLAN tunnel, 24 bits.
type FlowVXLAN struct{ Value, Mask uint32 }

// FlowTag marks completions of the packets with a number (WC.FlowTag).
type FlowTag struct{ Tag uint32 }

// FlowDrop drops the packets.
type FlowDrop struct{}

// FlowCount counts the packets. The counters must stay open until the rule is
// closed.
type FlowCount struct{ Counters *Counters }

// FlowRaw is a specification in the kernel's form, for what the types here do not
// have: Type, and what follows the common header, a multiple of 8 bytes.
type FlowRaw struct {
	Type abi.IBFlowSpecType
	Body []byte
}

// InnerFlow makes a header one inside of a tunnel.
type InnerFlow struct{ FlowSpec }

func (s InnerFlow) appendSpec(b []byte) []byte {
	at := len(b)
	b = s.FlowSpec.appendSpec(b)
	t := binary.NativeEndian.Uint32(b[at:]) | uint32(abi.IB_FLOW_SPEC_INNER)
	binary.NativeEndian.PutUint32(b[at:], t)
	return b
}

// flowHeader adds the header of a specification whose body has n bytes.
func flowHeader(b []byte, t abi.IBFlowSpecType, n int) []byte {
	b = binary.NativeEndian.AppendUint32(b, uint32(t))
	b = binary.NativeEndian.AppendUint16(b, uint16(size[abi.IBUverbsFlowSpecHdr]()+n))
	return append(b, 0, 0)
}

func (f FlowEthFields) append(b []byte) []byte {
	b = append(append(b, f.Dst[:]...), f.Src[:]...)
	b = binary.BigEndian.AppendUint16(b, f.EtherType)
	return binary.BigEndian.AppendUint16(b, f.VLAN)
}

func (s FlowEth) appendSpec(b []byte) []byte {
	b = flowHeader(b, abi.IB_FLOW_SPEC_ETH, 2*size[abi.IBUverbsFlowEthFilter]())
	return s.Mask.append(s.Value.append(b))
}

func (f FlowIPv4Fields) append(b []byte) []byte {
	for _, a := range []netip.Addr{f.Src, f.Dst} {
		var raw [4]byte
		if a = a.Unmap(); a.Is4() {
			raw = a.As4()
		}
		b = append(b, raw[:]...)
	}
	return append(b, f.Protocol, f.TOS, f.TTL, f.Flags)
}

func (s FlowIPv4) appendSpec(b []byte) []byte {
	b = flowHeader(b, abi.IB_FLOW_SPEC_IPV4, 2*size[abi.IBUverbsFlowIpv4Filter]())
	return s.Mask.append(s.Value.append(b))
}

func (f FlowIPv6Fields) append(b []byte) []byte {
	for _, a := range []netip.Addr{f.Src, f.Dst} {
		var raw [16]byte
		if a.IsValid() {
			raw = a.As16()
		}
		b = append(b, raw[:]...)
	}
	b = binary.BigEndian.AppendUint32(b, f.FlowLabel)
	return append(b, f.NextHeader, f.TrafficClass, f.HopLimit, 0)
}

func (s FlowIPv6) appendSpec(b []byte) []byte {
	b = flowHeader(b, abi.IB_FLOW_SPEC_IPV6, 2*size[abi.IBUverbsFlowIpv6Filter]())
	return s.Mask.append(s.Value.append(b))
}

func appendPorts(b []byte, t abi.IBFlowSpecType, value, mask FlowPorts) []byte {
	b = flowHeader(b, t, 2*size[abi.IBUverbsFlowTcpUdpFilter]())
	for _, p := range []uint16{value.Dst, value.Src, mask.Dst, mask.Src} {
		b = binary.BigEndian.AppendUint16(b, p)
	}
	return b
}

func (s FlowTCP) appendSpec(b []byte) []byte {
	return appendPorts(b, abi.IB_FLOW_SPEC_TCP, s.Value, s.Mask)
}

func (s FlowUDP) appendSpec(b []byte) []byte {
	return appendPorts(b, abi.IB_FLOW_SPEC_UDP, s.Value, s.Mask)
}

func (s FlowVXLAN) appendSpec(b []byte) []byte {
	b = flowHeader(b, abi.IB_FLOW_SPEC_VXLAN_TUNNEL, 2*size[abi.IBUverbsFlowTunnelFilter]())
	b = binary.BigEndian.AppendUint32(b, s.Value)
	return binary.BigEndian.AppendUint32(b, s.Mask)
}

func (s FlowTag) appendSpec(b []byte) []byte {
	b = flowHeader(b, abi.IB_FLOW_SPEC_ACTION_TAG, 8)
	b = binary.NativeEndian.AppendUint32(b, s.Tag)
	return append(b, 0, 0, 0, 0)
}

func (FlowDrop) appendSpec(b []byte) []byte { return flowHeader(b, abi.IB_FLOW_SPEC_ACTION_DROP, 0) }

func (s FlowCount) appendSpec(b []byte) []byte {
	b = flowHeader(b, abi.IB_FLOW_SPEC_ACTION_COUNT, 8)
	b = binary.NativeEndian.AppendUint32(b, s.Counters.handle)
	return append(b, 0, 0, 0, 0)
}

func (s FlowRaw) appendSpec(b []byte) []byte {
	return append(flowHeader(b, s.Type, len(s.Body)), s.Body...)
}
