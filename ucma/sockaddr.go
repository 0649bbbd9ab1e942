package ucma

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// Address families of Linux, spelled out because the syscall package of other
// systems has other numbers.
const (
	afInet  = 2
	afInet6 = 10
)

// Sizes the kernel insists on for each family (rdma_addr_size).
const (
	sizeIn  = 16
	sizeIn6 = 28
	sizeIB  = 48
)

// A Sockaddr is a socket address in the kernel's form: IPv4, IPv6 with a
// scope, or a native InfiniBand address (AF_IB). The zero value is no address.
type Sockaddr struct {
	raw  [sizeIB / 8]uint64 // as in memory; the kernel's own type has room for far more
	size uint16
}

func (s *Sockaddr) family() uint16        { return s.in().Family }
func (s *Sockaddr) in() *abi.SockaddrIn   { return (*abi.SockaddrIn)(unsafe.Pointer(&s.raw)) }
func (s *Sockaddr) in6() *abi.SockaddrIn6 { return (*abi.SockaddrIn6)(unsafe.Pointer(&s.raw)) }
func (s *Sockaddr) ib() *abi.SockaddrIB   { return (*abi.SockaddrIB)(unsafe.Pointer(&s.raw)) }

// store writes the address into a command.
func (s *Sockaddr) store(size *uint16, raw *abi.SockaddrStorage) {
	*size = s.size
	copy(raw.Bytes(), s.bytes())
}

// bytes is the address as in memory.
func (s *Sockaddr) bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(&s.raw)), sizeIB)[:s.size]
}

// SockaddrFrom makes a Sockaddr of an IP address and port. An IPv4-mapped IPv6
// address becomes IPv4. The zone of a link-local address may be an interface's
// name or number.
func SockaddrFrom(ap netip.AddrPort) (Sockaddr, error) {
	var s Sockaddr
	addr := ap.Addr().Unmap()
	switch {
	case addr.Is4():
		sin := s.in()
		sin.Family, sin.Port, sin.Addr = afInet, htons(ap.Port()), addr.As4()
		s.size = sizeIn
	case addr.Is6():
		scope, err := scopeID(addr.Zone())
		if err != nil {
			return Sockaddr{}, err
		}
		sin6 := s.in6()
		sin6.Family, sin6.Port, sin6.Addr, sin6.ScopeID = afInet6, htons(ap.Port()), addr.As16(), scope
		s.size = sizeIn6
	default:
		return Sockaddr{}, fmt.Errorf("address %v: %w", ap, syscall.EINVAL)
	}
	return s, nil
}

// SockaddrFromIB makes a Sockaddr of a native InfiniBand address.
func SockaddrFromIB(ib abi.SockaddrIB) Sockaddr {
	var s Sockaddr
	ib.Family = abi.AF_IB
	*s.ib() = ib
	s.size = sizeIB
	return s
}

// sockaddrFromRaw takes what the kernel wrote. The family decides the size; an
// unknown one gives the zero Sockaddr.
func sockaddrFromRaw(raw []byte) (s Sockaddr) {
	if len(raw) < sizeIn {
		return Sockaddr{}
	}
	switch binary.NativeEndian.Uint16(raw) {
	case afInet:
		s.size = sizeIn
	case afInet6:
		s.size = sizeIn6
	case abi.AF_IB:
		s.size = sizeIB
	}
	if len(raw) < int(s.size) {
		return Sockaddr{}
	}
	copy(s.bytes(), raw)
	return s
}

// IsZero reports whether s is no address at all.
func (s Sockaddr) IsZero() bool { return s.size == 0 }

// Family returns the address family: 2 for IPv4, 10 for IPv6, 27 for AF_IB,
// 0 for no address.
func (s Sockaddr) Family() uint16 { return s.family() }

// AddrPort returns the IP address and port, and false for other families. The
// zone is the interface's name where it has one now, else its number.
func (s Sockaddr) AddrPort() (netip.AddrPort, bool) {
	switch s.family() {
	case afInet:
		sin := s.in()
		return netip.AddrPortFrom(netip.AddrFrom4(sin.Addr), ntohs(sin.Port)), true
	case afInet6:
		sin6 := s.in6()
		addr := netip.AddrFrom16(sin6.Addr)
		if sin6.ScopeID != 0 {
			addr = addr.WithZone(zone(sin6.ScopeID))
		}
		return netip.AddrPortFrom(addr, ntohs(sin6.Port)), true
	}
	return netip.AddrPort{}, false
}

// IB returns the native InfiniBand address, and false for other families.
func (s Sockaddr) IB() (abi.SockaddrIB, bool) {
	if s.family() != abi.AF_IB {
		return abi.SockaddrIB{}, false
	}
	return *s.ib(), true
}

// String returns the address as host:port, or the GID and service ID of an
// InfiniBand one.
func (s Sockaddr) String() string {
	if ap, ok := s.AddrPort(); ok {
		return ap.String()
	}
	if ib, ok := s.IB(); ok {
		sid := s.bytes()[24:32] // sockaddr_ib.sib_sid, big-endian
		return fmt.Sprintf("[%v]#%#x", netip.AddrFrom16(ib.Addr), binary.BigEndian.Uint64(sid))
	}
	return "none"
}

// legacy returns the address as the older commands want it: room for a
// sockaddr_in6 that may hold a sockaddr_in.
func (s *Sockaddr) legacy() (abi.SockaddrIn6, error) {
	if s.size > sizeIn6 {
		return abi.SockaddrIn6{}, syscall.EAFNOSUPPORT
	}
	return *s.in6(), nil
}

func scopeID(zone string) (uint32, error) {
	if zone == "" {
		return 0, nil
	}
	if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
		return uint32(n), nil
	}
	ifi, err := net.InterfaceByName(zone)
	if err != nil {
		return 0, fmt.Errorf("zone %q: %w: no such network interface here", zone, syscall.ENODEV)
	}
	return uint32(ifi.Index), nil
}

func zone(scope uint32) string {
	if ifi, err := net.InterfaceByIndex(int(scope)); err == nil {
		return ifi.Name
	}
	return strconv.FormatUint(uint64(scope), 10)
}

// htons and ntohs convert between a port number and its field, which is
// big-endian in memory whatever the host's order.
func htons(port uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], port)
	return binary.NativeEndian.Uint16(b[:])
}

func ntohs(field uint16) uint16 {
	var b [2]byte
	binary.NativeEndian.PutUint16(b[:], field)
	return binary.BigEndian.Uint16(b[:])
}
