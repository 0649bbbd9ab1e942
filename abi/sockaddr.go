// This file holds the socket addresses that stand inside RDMA CM structs. They
// come from include/uapi/linux/{socket,in,in6}.h and include/rdma/ib.h.

package abi

import (
	"structs"
	"unsafe"
)

// AF_IB is the address family of SockaddrIB (include/linux/socket.h).
const AF_IB = 27

// SockaddrStorage is struct __kernel_sockaddr_storage of
// include/uapi/linux/socket.h: 128 bytes, aligned to 8, that hold a socket
// address of any family. Family is in host byte order; the meaning of Data
// depends on it.
type SockaddrStorage struct {
	_      structs.HostLayout
	_      [0]uint64 // alignment of the C struct
	Family uint16
	Data   [126]byte
}

// Bytes returns the whole storage, family included, as a view.
func (p *SockaddrStorage) Bytes() []byte {
	return (*[unsafe.Sizeof(*p)]byte)(unsafe.Pointer(p))[:]
}

// In returns a view of the storage as IPv4 address.
func (p *SockaddrStorage) In() *SockaddrIn { return (*SockaddrIn)(unsafe.Pointer(p)) }

// In6 returns a view of the storage as IPv6 address.
func (p *SockaddrStorage) In6() *SockaddrIn6 { return (*SockaddrIn6)(unsafe.Pointer(p)) }

// IB returns a view of the storage as native InfiniBand address.
func (p *SockaddrStorage) IB() *SockaddrIB { return (*SockaddrIB)(unsafe.Pointer(p)) }

// SockaddrIn is struct sockaddr_in of include/uapi/linux/in.h.
type SockaddrIn struct {
	_      structs.HostLayout
	_      [0]uint32 // alignment of the C struct
	Family uint16    // AF_INET, host byte order
	Port   uint16    // big-endian
	Addr   [4]byte
	Zero   [8]byte
}

// SockaddrIn6 is struct sockaddr_in6 of include/uapi/linux/in6.h.
type SockaddrIn6 struct {
	_        structs.HostLayout
	Family   uint16 // AF_INET6, host byte order
	Port     uint16 // big-endian
	FlowInfo uint32 // big-endian
	Addr     [16]byte
	ScopeID  uint32 // interface index, host byte order
}

// SockaddrIB is struct sockaddr_ib of include/rdma/ib.h, the native
// InfiniBand address (family AF_IB).
type SockaddrIB struct {
	_        structs.HostLayout
	Family   uint16   // AF_IB, host byte order
	PKey     uint16   // big-endian
	FlowInfo uint32   // big-endian
	Addr     [16]byte // GID
	SID      uint64   // service ID, big-endian
	SIDMask  uint64   // big-endian
	ScopeID  uint64   // host byte order
}
