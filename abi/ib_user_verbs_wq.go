// This file mirrors the receive work queue and indirection table part of
// include/uapi/rdma/ib_user_verbs.h.

package abi

import "structs"

// IBUverbsExCreateWQ is struct ib_uverbs_ex_create_wq, the request of
// IB_USER_VERBS_EX_CMD_CREATE_WQ. CreateFlags is an IBUverbsWQFlags.
type IBUverbsExCreateWQ struct {
	_           structs.HostLayout
	CompMask    uint32
	WQType      uint32
	UserHandle  uint64
	PDHandle    uint32
	CQHandle    uint32
	MaxWR       uint32
	MaxSGE      uint32
	CreateFlags uint32
	Reserved    uint32
}

// IBUverbsExCreateWQResp is struct ib_uverbs_ex_create_wq_resp, the response of
// IB_USER_VERBS_EX_CMD_CREATE_WQ.
type IBUverbsExCreateWQResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	WQHandle       uint32
	MaxWR          uint32
	MaxSGE         uint32
	Wqn            uint32
}

// IBUverbsExDestroyWQ is struct ib_uverbs_ex_destroy_wq, the request of
// IB_USER_VERBS_EX_CMD_DESTROY_WQ.
type IBUverbsExDestroyWQ struct {
	_        structs.HostLayout
	CompMask uint32
	WQHandle uint32
}

// IBUverbsExDestroyWQResp is struct ib_uverbs_ex_destroy_wq_resp, the response of
// IB_USER_VERBS_EX_CMD_DESTROY_WQ.
type IBUverbsExDestroyWQResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	EventsReported uint32
	Reserved       uint32
}

// IBUverbsExModifyWQ is struct ib_uverbs_ex_modify_wq, the request of
// IB_USER_VERBS_EX_CMD_MODIFY_WQ. AttrMask is an IBWQAttrMask, the states are IBWQState,
// the flags IBUverbsWQFlags.
type IBUverbsExModifyWQ struct {
	_           structs.HostLayout
	AttrMask    uint32
	WQHandle    uint32
	WQState     uint32
	CurrWQState uint32
	Flags       uint32
	FlagsMask   uint32
}

// Largest value of IBUverbsExCreateRWQIndTable.LogIndTblSize.
const (
	IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE = 0x0d
)

// IBUverbsExCreateRWQIndTable is struct ib_uverbs_ex_create_rwq_ind_table, the request of
// IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL. 1<<LogIndTblSize WQ handles follow.
type IBUverbsExCreateRWQIndTable struct {
	_             structs.HostLayout
	CompMask      uint32
	LogIndTblSize uint32
	// wq_handles[] follows at offset 8.
}

// IBUverbsExCreateRWQIndTableResp is struct ib_uverbs_ex_create_rwq_ind_table_resp, the
// response of IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL.
type IBUverbsExCreateRWQIndTableResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
	IndTblHandle   uint32
	IndTblNum      uint32
}

// IBUverbsExDestroyRWQIndTable is struct ib_uverbs_ex_destroy_rwq_ind_table, the request
// of IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL.
type IBUverbsExDestroyRWQIndTable struct {
	_            structs.HostLayout
	CompMask     uint32
	IndTblHandle uint32
}
