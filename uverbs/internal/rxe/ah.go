package rxe

import (
	"encoding/binary"
	"net/netip"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

const createAHResp = int(unsafe.Sizeof(abi.RXECreateAHResp{}))

// ah is where a datagram goes: the number under which the kernel keeps the
// path, or the path itself, which each request then carries along.
type ah struct {
	num uint32
	av  abi.RXEAV
}

// SetupAH prepares an address handle. Kernels from 6.0 on answer with its number
// (rxe_create_ah) and look the path up themselves (rxe_get_av); older ones
// answer nothing and take the path from each request.
func (*context) SetupAH(req provider.AHRequest) (*provider.AHSetup, error) {
	if req.DLID != 0 || req.PathBits != 0 { // which rxe_init_av forgets
		return nil, errLID
	}
	done := func(out []byte) (any, error) {
		if len(out) < createAHResp {
			return nil, shortAnswer("CREATE_AH", len(out), createAHResp)
		}
		if num := binary.NativeEndian.Uint32(out); num != 0 {
			return &ah{num: num}, nil
		}
		src, err := req.Source()
		if err != nil {
			return nil, err
		}
		return &ah{av: addressVector(&req, &src)}, nil
	}
	return &provider.AHSetup{UHWOutLen: createAHResp, Done: done}, nil
}

// addressVector makes the path that rxe_init_av makes for the kernel's users.
// The destination's Ethernet address only serves to recognise what does not
// leave the machine (rxe_net.c rxe_prepare); all else goes where the IP route
// leads.
func addressVector(req *provider.AHRequest, src *provider.AHSource) abi.RXEAV {
	av := abi.RXEAV{
		PortNum: req.Port, Dmac: src.MAC, NetworkType: abi.RXE_NETWORK_TYPE_IPV6,
		GRH: abi.RXEGlobalRoute{
			Dgid: abi.RXEGID{Raw: req.DGID}, FlowLabel: req.FlowLabel, SgidIndex: req.SGIDIndex,
			HopLimit: req.HopLimit, TrafficClass: req.TrafficClass,
		},
	}
	if netip.AddrFrom16(src.GID).Is4In6() {
		av.NetworkType = abi.RXE_NETWORK_TYPE_IPV4
	}
	putSockaddr(av.SgidAddrSockaddrIn(), av.SgidAddrSockaddrIn6(), src.GID)
	putSockaddr(av.DgidAddrSockaddrIn(), av.DgidAddrSockaddrIn6(), req.DGID)
	return av
}

// putSockaddr writes the address of a GID as rdma_gid2ip does. The family
// numbers are Linux's, whatever system this is built for.
func putSockaddr(in *abi.SockaddrIn, in6 *abi.SockaddrIn6, gid [16]byte) {
	const afInet, afInet6 = 2, 10
	if a := netip.AddrFrom16(gid); a.Is4In6() {
		in.Family, in.Addr = afInet, a.Unmap().As4()
		return
	}
	in6.Family, in6.Addr = afInet6, gid
}
