// This file mirrors the shared receive queue part of include/uapi/rdma/ib_user_verbs.h.

package abi

import "structs"

// IBUverbsCreateSRQ is struct ib_uverbs_create_srq, the request of
// IB_USER_VERBS_CMD_CREATE_SRQ.
type IBUverbsCreateSRQ struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	MaxWR      uint32
	MaxSGE     uint32
	SRQLimit   uint32
	// driver_data[] follows at offset 32.
}

// IBUverbsCreateXsrq is struct ib_uverbs_create_xsrq, the request of
// IB_USER_VERBS_CMD_CREATE_XSRQ, the form with a type (IBUverbsSRQType), XRC domain, CQ
// and tag count.
type IBUverbsCreateXsrq struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	SRQType    uint32
	PDHandle   uint32
	MaxWR      uint32
	MaxSGE     uint32
	SRQLimit   uint32
	MaxNumTags uint32
	XRCDHandle uint32
	CQHandle   uint32
	// driver_data[] follows at offset 48.
}

// IBUverbsCreateSRQResp is struct ib_uverbs_create_srq_resp, the response of both SRQ
// create commands.
type IBUverbsCreateSRQResp struct {
	_         structs.HostLayout
	SRQHandle uint32
	MaxWR     uint32
	MaxSGE    uint32
	Srqn      uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsModifySRQ is struct ib_uverbs_modify_srq, the request of
// IB_USER_VERBS_CMD_MODIFY_SRQ, which has no response. AttrMask is an IBSRQAttrMask.
type IBUverbsModifySRQ struct {
	_         structs.HostLayout
	_         [0]uint64 // alignment of the C struct
	SRQHandle uint32
	AttrMask  uint32
	MaxWR     uint32
	SRQLimit  uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsQuerySRQ is struct ib_uverbs_query_srq, the request of
// IB_USER_VERBS_CMD_QUERY_SRQ.
type IBUverbsQuerySRQ struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	Reserved  uint32
	// driver_data[] follows at offset 16.
}

// IBUverbsQuerySRQResp is struct ib_uverbs_query_srq_resp, the response of
// IB_USER_VERBS_CMD_QUERY_SRQ.
type IBUverbsQuerySRQResp struct {
	_        structs.HostLayout
	MaxWR    uint32
	MaxSGE   uint32
	SRQLimit uint32
	Reserved uint32
}

// IBUverbsDestroySRQ is struct ib_uverbs_destroy_srq, the request of
// IB_USER_VERBS_CMD_DESTROY_SRQ.
type IBUverbsDestroySRQ struct {
	_         structs.HostLayout
	Response  uint64
	SRQHandle uint32
	Reserved  uint32
}

// IBUverbsDestroySRQResp is struct ib_uverbs_destroy_srq_resp, the response of
// IB_USER_VERBS_CMD_DESTROY_SRQ: how many events of the SRQ were handed out.
type IBUverbsDestroySRQResp struct {
	_              structs.HostLayout
	EventsReported uint32
}
