// This file mirrors the protection domain, XRC domain, memory region and memory window
// part of include/uapi/rdma/ib_user_verbs.h.

package abi

import "structs"

// IBUverbsAllocPD is struct ib_uverbs_alloc_pd, the request of IB_USER_VERBS_CMD_ALLOC_PD.
type IBUverbsAllocPD struct {
	_        structs.HostLayout
	Response uint64
	// driver_data[] follows at offset 8.
}

// IBUverbsAllocPDResp is struct ib_uverbs_alloc_pd_resp, the response of
// IB_USER_VERBS_CMD_ALLOC_PD.
type IBUverbsAllocPDResp struct {
	_        structs.HostLayout
	PDHandle uint32
	// driver_data[] follows at offset 4.
}

// IBUverbsDeallocPD is struct ib_uverbs_dealloc_pd, the request of
// IB_USER_VERBS_CMD_DEALLOC_PD.
type IBUverbsDeallocPD struct {
	_        structs.HostLayout
	PDHandle uint32
}

// IBUverbsOpenXRCD is struct ib_uverbs_open_xrcd, the request of
// IB_USER_VERBS_CMD_OPEN_XRCD. FD names the inode that processes share the domain through,
// or is -1.
type IBUverbsOpenXRCD struct {
	_        structs.HostLayout
	Response uint64
	FD       uint32
	Oflags   uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsOpenXRCDResp is struct ib_uverbs_open_xrcd_resp, the response of
// IB_USER_VERBS_CMD_OPEN_XRCD.
type IBUverbsOpenXRCDResp struct {
	_          structs.HostLayout
	XRCDHandle uint32
	// driver_data[] follows at offset 4.
}

// IBUverbsCloseXRCD is struct ib_uverbs_close_xrcd, the request of
// IB_USER_VERBS_CMD_CLOSE_XRCD.
type IBUverbsCloseXRCD struct {
	_          structs.HostLayout
	XRCDHandle uint32
}

// IBUverbsRegMR is struct ib_uverbs_reg_mr, the request of IB_USER_VERBS_CMD_REG_MR. HcaVa
// is the address peers use; it must have the page offset of Start.
type IBUverbsRegMR struct {
	_           structs.HostLayout
	Response    uint64
	Start       uint64
	Length      uint64
	HcaVa       uint64
	PDHandle    uint32
	AccessFlags uint32 // IBUverbsAccessFlags
	// driver_data[] follows at offset 40.
}

// IBUverbsRegMRResp is struct ib_uverbs_reg_mr_resp, the response of
// IB_USER_VERBS_CMD_REG_MR.
type IBUverbsRegMRResp struct {
	_        structs.HostLayout
	MRHandle uint32
	LKey     uint32
	RKey     uint32
	// driver_data[] follows at offset 12.
}

// IBUverbsReregMR is struct ib_uverbs_rereg_mr, the request of IB_USER_VERBS_CMD_REREG_MR.
// Flags is an IBMRReregFlags.
type IBUverbsReregMR struct {
	_           structs.HostLayout
	Response    uint64
	MRHandle    uint32
	Flags       uint32 // IBMRReregFlags
	Start       uint64
	Length      uint64
	HcaVa       uint64
	PDHandle    uint32
	AccessFlags uint32 // IBUverbsAccessFlags
	// driver_data[] follows at offset 48.
}

// IBUverbsReregMRResp is struct ib_uverbs_rereg_mr_resp, the response of
// IB_USER_VERBS_CMD_REREG_MR.
type IBUverbsReregMRResp struct {
	_    structs.HostLayout
	_    [0]uint64 // alignment of the C struct
	LKey uint32
	RKey uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsDeregMR is struct ib_uverbs_dereg_mr, the request of IB_USER_VERBS_CMD_DEREG_MR.
type IBUverbsDeregMR struct {
	_        structs.HostLayout
	MRHandle uint32
}

// IBUverbsAllocMW is struct ib_uverbs_alloc_mw, the request of IB_USER_VERBS_CMD_ALLOC_MW.
// MWType is an IBMWType.
type IBUverbsAllocMW struct {
	_        structs.HostLayout
	Response uint64
	PDHandle uint32
	MWType   uint8
	Reserved [3]uint8
	// driver_data[] follows at offset 16.
}

// IBUverbsAllocMWResp is struct ib_uverbs_alloc_mw_resp, the response of
// IB_USER_VERBS_CMD_ALLOC_MW.
type IBUverbsAllocMWResp struct {
	_        structs.HostLayout
	_        [0]uint64 // alignment of the C struct
	MWHandle uint32
	RKey     uint32
	// driver_data[] follows at offset 8.
}

// IBUverbsDeallocMW is struct ib_uverbs_dealloc_mw, the request of
// IB_USER_VERBS_CMD_DEALLOC_MW.
type IBUverbsDeallocMW struct {
	_        structs.HostLayout
	MWHandle uint32
}
