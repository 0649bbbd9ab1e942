package fakecm

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// addr is an IP address with a port; not valid means none.
type addr struct {
	ip   netip.Addr
	port uint16
}

const (
	afInet  = 2
	afInet6 = 10
)

func bytesOf[T any](v *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)) }

// parse reads a socket address of the given size; 0 means whatever its family
// has.
func parse(b []byte, size int) (addr, error) {
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == afInet && (size == 0 || size == 16):
		return addr{netip.AddrFrom4([4]byte(b[4:8])), port}, nil
	case family == afInet6 && (size == 0 || size == 28):
		ip := netip.AddrFrom16([16]byte(b[8:24]))
		if ip.IsLinkLocalUnicast() && binary.NativeEndian.Uint32(b[24:]) == 0 {
			return addr{}, syscall.EINVAL
		}
		return addr{ip, port}, nil
	}
	return addr{}, syscall.EINVAL
}

// put writes the address in the kernel's form.
func (a addr) put(b []byte) {
	if !a.ip.IsValid() {
		return
	}
	binary.BigEndian.PutUint16(b[2:], a.port)
	if a.ip.Is4() {
		binary.NativeEndian.PutUint16(b, afInet)
		ip := a.ip.As4()
		copy(b[4:], ip[:])
		return
	}
	binary.NativeEndian.PutUint16(b, afInet6)
	ip := a.ip.As16()
	copy(b[8:], ip[:])
}

// wildcard tells what the kernel takes for one (cma_any_addr): loopback too.
func (a addr) wildcard() bool { return a.ip.IsUnspecified() || a.ip.IsLoopback() }

func (k *Kernel) deviceOf(ip netip.Addr) *Device {
	for n := range k.Devices {
		for _, have := range k.Devices[n].Addrs {
			if have == ip {
				return &k.Devices[n]
			}
		}
	}
	return nil
}

func (f *file) bind(q *abi.RDMAUCMBind, _ uint16) error {
	return f.bindTo(q.ID, q.Addr.Bytes(), int(q.AddrSize))
}

func (f *file) bindIP(q *abi.RDMAUCMBindIP, _ uint16) error {
	return f.bindTo(q.ID, bytesOf(&q.Addr), 0)
}

func (f *file) bindTo(handle uint32, b []byte, size int) error {
	i, err := f.find(handle)
	if err != nil {
		return err
	}
	a, err := parse(b, size)
	if err != nil {
		return err
	}
	return i.bindTo(a)
}

func (i *id) bindTo(a addr) error {
	if i.state != idle {
		return syscall.EINVAL
	}
	dev := i.k.deviceOf(a.ip)
	if !a.wildcard() && dev == nil {
		return syscall.EADDRNOTAVAIL
	}
	if a.port != 0 && a.port < 1024 && i.k.Unprivileged {
		return syscall.EACCES
	}
	if a.port == 0 {
		a.port = i.k.freePort()
	} else if err := i.k.portFree(a, i.ps); err != nil {
		return err
	}
	i.src, i.dev, i.state = a, dev, bound
	return nil
}

// portFree is cma_check_port: only the clash of two equal specific addresses
// is EADDRINUSE.
func (k *Kernel) portFree(a addr, ps abi.RDMAUCMPortSpace) error {
	for _, o := range k.ids {
		if o.passive || o.state == idle || o.src.port != a.port || o.ps != ps {
			continue
		}
		switch {
		case k.IWARP && o.src.ip.Is4() != a.ip.Is4(): // as if all IDs kept to their family
		case o.src.wildcard() || a.wildcard():
			return syscall.EADDRNOTAVAIL
		case o.src.ip == a.ip:
			return syscall.EADDRINUSE
		}
	}
	return nil
}

func (k *Kernel) freePort() uint16 {
	k.nextPort++
	return k.nextPort
}

func (f *file) resolveAddr(q *abi.RDMAUCMResolveAddr, _ uint16) error {
	if q.Reserved != 0 {
		return syscall.EINVAL
	}
	var src []byte
	if q.SrcSize != 0 {
		src = q.SrcAddr.Bytes()[:q.SrcSize]
	}
	return f.resolve(q.ID, src, int(q.SrcSize), q.DstAddr.Bytes(), int(q.DstSize))
}

func (f *file) resolveIP(q *abi.RDMAUCMResolveIP, _ uint16) error {
	var src []byte
	if q.SrcAddr.Family != 0 {
		src = bytesOf(&q.SrcAddr)
	}
	return f.resolve(q.ID, src, 0, bytesOf(&q.DstAddr), 0)
}

// resolve binds an idle ID, and reports the outcome by an event. An address
// of no device is unroutable.
func (f *file) resolve(handle uint32, src []byte, srcSize int, dst []byte, dstSize int) error {
	i, err := f.find(handle)
	if err != nil {
		return err
	}
	d, err := parse(dst, dstSize)
	if err != nil {
		return err
	}
	if i.state != idle && i.state != bound {
		return syscall.EINVAL
	}
	dev := f.k.deviceOf(d.ip)
	if dev == nil {
		return syscall.ENETUNREACH
	}
	if i.state == idle {
		s := addr{ip: netip.IPv4Unspecified()}
		if d.ip.Is6() {
			s.ip = netip.IPv6Unspecified()
		}
		if src != nil {
			if s, err = parse(src, srcSize); err != nil {
				return err
			}
		}
		if err := i.bindTo(s); err != nil {
			return err
		}
	}
	i.dst = d
	if f.k.muted[abi.RDMA_USER_CM_CMD_RESOLVE_ADDR] {
		i.state = addrQuery
		return nil
	}
	i.arrive(dev)
	return nil
}

// arrive picks the source address on the device and reports ADDR_RESOLVED.
func (i *id) arrive(dev *Device) {
	if i.src.wildcard() {
		for _, ip := range dev.Addrs {
			if ip.Is4() == i.dst.ip.Is4() {
				i.src.ip = ip
				break
			}
		}
	}
	i.dev, i.state = dev, addrResolved
	i.event(abi.RDMA_CM_EVENT_ADDR_RESOLVED, 0, nil)
}

func (f *file) resolveRoute(q *abi.RDMAUCMResolveRoute, _ uint16) error {
	i, err := f.findAlive(q.ID)
	if err != nil {
		return err
	}
	if i.state != addrResolved || q.TimeoutMs == 0 {
		return syscall.EINVAL
	}
	if f.k.muted[abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE] {
		i.state = routeQuery
		return nil
	}
	i.state = routeResolved
	i.event(abi.RDMA_CM_EVENT_ROUTE_RESOLVED, 0, nil)
	return nil
}

func (f *file) queryRoute(q *abi.RDMAUCMQuery, out uint16) error {
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	var r abi.RDMAUCMQueryRouteResp
	i.src.put(bytesOf(&r.SrcAddr))
	i.dst.put(bytesOf(&r.DstAddr))
	if i.dev != nil {
		r.NodeGUID, r.PortNum, r.IbdevIndex = i.dev.GUID, 1, i.dev.Index
	}
	if i.state >= routeResolved && i.state != listening {
		r.NumPaths = 1
	}
	return answer(q.Response, out, r)
}

func (f *file) query(q *abi.RDMAUCMQuery, out uint16) error {
	i, err := f.find(q.ID)
	if err != nil {
		return err
	}
	switch q.Option {
	case abi.RDMA_USER_CM_QUERY_ADDR, abi.RDMA_USER_CM_QUERY_GID:
		if out < 272 {
			return syscall.ENOSPC
		}
		var r abi.RDMAUCMQueryAddrResp
		i.src.put(r.SrcAddr.Bytes())
		i.dst.put(r.DstAddr.Bytes())
		if i.dev != nil {
			r.NodeGUID, r.PortNum, r.IbdevIndex = i.dev.GUID, 1, i.dev.Index
		}
		return answer(q.Response, out, r)
	case abi.RDMA_USER_CM_QUERY_PATH:
		return answer(q.Response, out, abi.RDMAUCMQueryPathResp{})
	case abi.RDMA_USER_CM_QUERY_IB_SERVICE:
		if !f.k.Old {
			return answer(q.Response, out, abi.RDMAUCMQueryIBServiceResp{})
		}
	}
	return syscall.ENOSYS
}
