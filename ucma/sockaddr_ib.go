package ucma

import (
	"encoding/binary"

	"github.com/purerdma/rdma/abi"
)

// SockaddrFromGID makes a native InfiniBand address (AF_IB) of a GID and a port
// in a port space. Port 0 lets the kernel choose one when the address is bound.
// For service IDs outside the port spaces use SockaddrFromIB.
func SockaddrFromGID(gid [16]byte, ps abi.RDMAUCMPortSpace, port uint16) Sockaddr {
	const anyPort = abi.RDMA_IB_IP_PS_MASK // the bits that a port of 0 leaves open are not compared
	mask := ^uint64(0)
	if port == 0 {
		mask = anyPort
	}
	return SockaddrFromIB(abi.SockaddrIB{
		PKey: 0xffff, // the default partition
		Addr: gid, SID: htonll(uint64(ps)<<16 | uint64(port)), SIDMask: htonll(mask),
	})
}

// Port returns the port of an address of any family, 0 for no address. On
// AF_IB it is the low 16 bits of the service ID, as librdmacm has it.
func (s Sockaddr) Port() uint16 {
	if ib, ok := s.IB(); ok {
		return uint16(ntohll(ib.SID))
	}
	ap, _ := s.AddrPort()
	return ap.Port()
}

// htonll and ntohll convert a 64-bit number and its big-endian field.
func htonll(v uint64) uint64 {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], v)
	return binary.NativeEndian.Uint64(b[:])
}

func ntohll(field uint64) uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], field)
	return binary.BigEndian.Uint64(b[:])
}
