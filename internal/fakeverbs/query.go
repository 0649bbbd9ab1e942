package fakeverbs

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// MaxReads is how many reads and atomic operations of a queue pair the fake lets
// be outstanding.
const MaxReads = 16

// maxMTU is the code of 4096 bytes.
const maxMTU = 5

func (k *Kernel) queryDevice(r *request) error {
	base := abi.IBUverbsQueryDeviceResp{
		NodeGUID: 0x0807060504030201, MaxQP: 100, MaxCQ: 100, MaxMR: 100, MaxPD: 100, MaxSGE: 32,
		MaxQPWR: MaxQPWR, MaxQPRdAtom: MaxReads, MaxQPInitRdAtom: MaxReads, MaxCQE: k.maxCQE(), PhysPortCnt: 1, MaxPkeys: 64, MaxSRQ: 100, MaxSRQWR: MaxSRQWR, MaxSRQSGE: 32, MaxAH: uint32(k.MaxAH), DeviceCapFlags: 1 << 31,
	}
	if r.name == "QUERY_DEVICE" {
		answer(r, base)
		return nil
	}
	answer(r, abi.IBUverbsExQueryDeviceResp{
		Base: base, ResponseLength: uint32(sizeOf[abi.IBUverbsExQueryDeviceResp]()), DeviceCapFlagsEx: 1 << 40,
		HcaCoreClock: 78125, TimestampMask: 1<<48 - 1, MaxWQTypeRQ: 7, MaxDmSize: 1 << 17, OdpCaps: abi.IBUverbsOdpCaps{GeneralCaps: k.odp()},
		RssCaps:          abi.IBUverbsRssCaps{MaxRWQIndirectionTables: 5, MaxRWQIndirectionTableSize: 128},
		CQModerationCaps: abi.IBUverbsCQModerationCaps{MaxCQModerationCount: 100, MaxCQModerationPeriod: 200},
	})
	return nil
}

// odp is what hardware can of on-demand paging.
func (k *Kernel) odp() uint64 {
	if k.Hardware {
		return uint64(abi.IB_UVERBS_ODP_SUPPORT | abi.IB_UVERBS_ODP_SUPPORT_IMPLICIT)
	}
	return 0
}

func (k *Kernel) queryPort(r *request) error {
	port := uint64(0)
	if r.in != nil {
		port = uint64(as[abi.IBUverbsQueryPort](r).PortNum)
	} else {
		port = r.u64(0)
	}
	if port != 1 {
		return syscall.EINVAL
	}
	state, phys := uint8(abi.IB_PORT_ACTIVE), uint8(5)
	if k.faults.portDown {
		state, phys = uint8(abi.IB_PORT_DOWN), 3 // link up is 5, disabled 3
	}
	resp := abi.IBUverbsQueryPortResp{
		State: state, PhysState: phys, MaxMTU: maxMTU, ActiveMTU: 3, GIDTblLen: 1024, PKeyTblLen: 1,
		ActiveWidth: uint8(abi.IB_WIDTH_4X), ActiveSpeed: uint8(abi.IB_SPEED_EDR), PortCapFlags: 1 << 16, QKeyViolCntr: 3,
		LinkLayer: uint8(abi.IB_LINK_LAYER_ETHERNET), Flags: uint8(abi.IB_UVERBS_QPF_GRH_REQUIRED),
	}
	if k.InfiniBand {
		resp.LinkLayer = uint8(abi.IB_LINK_LAYER_INFINIBAND)
	}
	if r.in != nil {
		answer(r, resp)
	} else {
		put(r, 1, abi.IBUverbsQueryPortRespEx{LegacyResp: resp, PortCapFlags2: 2, ActiveSpeedEx: uint32(abi.IB_SPEED_EDR)})
	}
	return nil
}

// queryPortSpeed answers in 100 Mbit/s.
func (k *Kernel) queryPortSpeed(r *request) error {
	switch {
	case !k.Hardware:
		return syscall.EOPNOTSUPP
	case r.u64(0) != 1:
		return syscall.EINVAL
	}
	put(r, 1, uint64(4000))
	return nil
}

// gids is the table of the one port. Slot 1 is empty.
var gids = []abi.IBUverbsGIDEntry{
	{GIDIndex: 0, PortNum: 1, GIDType: 2, GID: gid(0xfe80, 1)},
	{GIDIndex: 2, PortNum: 1, GIDType: 2, GID: gid(0xfd00, 2)},
}

func (k *Kernel) gidTable() []abi.IBUverbsGIDEntry { return append(k.FirstGIDs, gids...) }

// GIDEntry is an entry of the one port's table, for Kernel.FirstGIDs.
func GIDEntry(slot uint32, first uint16, last byte) abi.IBUverbsGIDEntry {
	return abi.IBUverbsGIDEntry{GIDIndex: slot, PortNum: 1, GIDType: 2, GID: gid(first, last)}
}

func gid(first uint16, last byte) (g [2]uint64) {
	b := bytesOf(&g)
	b[0], b[1], b[15] = byte(first>>8), byte(first), last
	return g
}

func (k *Kernel) queryGIDTable(r *request) error {
	if r.u64(0) != uint64(sizeOf[abi.IBUverbsGIDEntry]()) {
		return syscall.EINVAL
	}
	out := r.output(2)
	all := k.gidTable()
	for i := range all {
		n := copy(out, bytesOf(&all[i]))
		out = out[n:]
	}
	put(r, 3, uint64(len(all)))
	return nil
}

func (k *Kernel) queryGIDEntry(r *request) error {
	if r.u64(0) != 1 {
		return syscall.EINVAL
	}
	for _, e := range k.gidTable() {
		if uint64(e.GIDIndex) == r.u64(1) {
			put(r, 3, e)
			return nil
		}
	}
	return syscall.ENODATA
}
