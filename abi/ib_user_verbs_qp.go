// This file mirrors the queue pair part of include/uapi/rdma/ib_user_verbs.h.

package abi

import "structs"

// IBUverbsQPAttr is struct ib_uverbs_qp_attr, the QP attributes that
// RDMA_USER_CM_CMD_INIT_QP_ATTR returns. QPAttrMask is an IBQPAttrMask and tells which
// fields count.
type IBUverbsQPAttr struct {
	_                structs.HostLayout
	QPAttrMask       uint32 // IBQPAttrMask
	QPState          uint32 // IBQPState
	CurQPState       uint32 // IBQPState
	PathMTU          uint32 // IBMTU
	PathMigState     uint32 // IBMigState
	QKey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	QPAccessFlags    uint32 // IBUverbsAccessFlags
	AHAttr           IBUverbsAHAttr
	AltAHAttr        IBUverbsAHAttr
	MaxSendWR        uint32
	MaxRecvWR        uint32
	MaxSendSGE       uint32
	MaxRecvSGE       uint32
	MaxInlineData    uint32
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	EnSqdAsyncNotify uint8
	SQDraining       uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRnrTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RnrRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	Reserved         [5]uint8
}

// IBUverbsCreateQP is struct ib_uverbs_create_qp, the request of
// IB_USER_VERBS_CMD_CREATE_QP. With IsSrq set, SRQHandle is used; an XRC target QP carries
// the XRC domain in PDHandle.
type IBUverbsCreateQP struct {
	_             structs.HostLayout
	Response      uint64
	UserHandle    uint64
	PDHandle      uint32
	SendCQHandle  uint32
	RecvCQHandle  uint32
	SRQHandle     uint32
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
	SQSigAll      uint8
	QPType        uint8 // IBQPType
	IsSRQ         uint8
	Reserved      uint8
	// driver_data[] follows at offset 56.
}

// IBUverbsCreateQPMask is enum ib_uverbs_create_qp_mask, bits of
// IBUverbsExCreateQP.CompMask.
type IBUverbsCreateQPMask uint32

// Values of IBUverbsCreateQPMask.
const (
	IB_UVERBS_CREATE_QP_MASK_IND_TABLE IBUverbsCreateQPMask = 1 << 0
)

// All bits of IBUverbsExCreateQP.CompMask that the kernel knows.
const (
	IB_UVERBS_CREATE_QP_SUP_COMP_MASK = 1
)

// IBUverbsExCreateQP is struct ib_uverbs_ex_create_qp, the request of
// IB_USER_VERBS_EX_CMD_CREATE_QP.
type IBUverbsExCreateQP struct {
	_               structs.HostLayout
	UserHandle      uint64
	PDHandle        uint32
	SendCQHandle    uint32
	RecvCQHandle    uint32
	SRQHandle       uint32
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInlineData   uint32
	SQSigAll        uint8
	QPType          uint8 // IBQPType
	IsSRQ           uint8
	Reserved        uint8
	CompMask        uint32 // IBUverbsCreateQPMask
	CreateFlags     uint32 // IBUverbsQPCreateFlags
	RWQIndTblHandle uint32
	SourceQPN       uint32
}

// IBUverbsOpenQP is struct ib_uverbs_open_qp, the request of IB_USER_VERBS_CMD_OPEN_QP,
// which shares an XRC target QP; the response is IBUverbsCreateQPResp.
type IBUverbsOpenQP struct {
	_          structs.HostLayout
	Response   uint64
	UserHandle uint64
	PDHandle   uint32
	QPN        uint32
	QPType     uint8 // IBQPType
	Reserved   [7]uint8
	// driver_data[] follows at offset 32.
}

// IBUverbsCreateQPResp is struct ib_uverbs_create_qp_resp, the response of
// IB_USER_VERBS_CMD_CREATE_QP and IB_USER_VERBS_CMD_OPEN_QP: the QP number and the sizes
// the kernel chose.
type IBUverbsCreateQPResp struct {
	_             structs.HostLayout
	QPHandle      uint32
	QPN           uint32
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
	Reserved      uint32
	// driver_data[] follows at offset 32.
}

// IBUverbsExCreateQPResp is struct ib_uverbs_ex_create_qp_resp, the response of
// IB_USER_VERBS_EX_CMD_CREATE_QP.
type IBUverbsExCreateQPResp struct {
	_              structs.HostLayout
	Base           IBUverbsCreateQPResp
	CompMask       uint32
	ResponseLength uint32
}

// IBUverbsQPDest is struct ib_uverbs_qp_dest, an address vector in query and modify
// commands.
type IBUverbsQPDest struct {
	_            structs.HostLayout
	Dgid         [16]uint8
	FlowLabel    uint32
	Dlid         uint16
	Reserved     uint16
	SgidIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	SL           uint8
	SrcPathBits  uint8
	StaticRate   uint8
	IsGlobal     uint8
	PortNum      uint8
}

// IBUverbsQueryQP is struct ib_uverbs_query_qp, the request of IB_USER_VERBS_CMD_QUERY_QP.
type IBUverbsQueryQP struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	AttrMask uint32 // IBQPAttrMask
	// driver_data[] follows at offset 16.
}

// IBUverbsQueryQPResp is struct ib_uverbs_query_qp_resp, the response of
// IB_USER_VERBS_CMD_QUERY_QP.
type IBUverbsQueryQPResp struct {
	_               structs.HostLayout
	_               [0]uint64 // alignment of the C struct
	Dest            IBUverbsQPDest
	AltDest         IBUverbsQPDest
	MaxSendWR       uint32
	MaxRecvWR       uint32
	MaxSendSGE      uint32
	MaxRecvSGE      uint32
	MaxInlineData   uint32
	QKey            uint32
	RQPSN           uint32
	SQPSN           uint32
	DestQPNum       uint32
	QPAccessFlags   uint32 // IBUverbsAccessFlags
	PKeyIndex       uint16
	AltPKeyIndex    uint16
	QPState         uint8 // IBQPState
	CurQPState      uint8 // IBQPState
	PathMTU         uint8 // IBMTU
	PathMigState    uint8 // IBMigState
	SQDraining      uint8
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8
	MinRnrTimer     uint8
	PortNum         uint8
	Timeout         uint8
	RetryCnt        uint8
	RnrRetry        uint8
	AltPortNum      uint8
	AltTimeout      uint8
	SQSigAll        uint8
	Reserved        [5]uint8
	// driver_data[] follows at offset 128.
}

// IBUverbsModifyQP is struct ib_uverbs_modify_qp, the request of
// IB_USER_VERBS_CMD_MODIFY_QP, which has no response. AttrMask is an IBQPAttrMask.
type IBUverbsModifyQP struct {
	_                structs.HostLayout
	_                [0]uint64 // alignment of the C struct
	Dest             IBUverbsQPDest
	AltDest          IBUverbsQPDest
	QPHandle         uint32
	AttrMask         uint32 // IBQPAttrMask
	QKey             uint32
	RQPSN            uint32
	SQPSN            uint32
	DestQPNum        uint32
	QPAccessFlags    uint32 // IBUverbsAccessFlags
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	QPState          uint8 // IBQPState
	CurQPState       uint8 // IBQPState
	PathMTU          uint8 // IBMTU
	PathMigState     uint8 // IBMigState
	EnSqdAsyncNotify uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRnrTimer      uint8
	PortNum          uint8
	Timeout          uint8
	RetryCnt         uint8
	RnrRetry         uint8
	AltPortNum       uint8
	AltTimeout       uint8
	Reserved         [2]uint8
	// driver_data[] follows at offset 112.
}

// IBUverbsExModifyQP is struct ib_uverbs_ex_modify_qp, the request of
// IB_USER_VERBS_EX_CMD_MODIFY_QP. RateLimit is in kbit/s and counts with IB_QP_RATE_LIMIT.
type IBUverbsExModifyQP struct {
	_         structs.HostLayout
	Base      IBUverbsModifyQP
	RateLimit uint32
	Reserved  uint32
}

// IBUverbsExModifyQPResp is struct ib_uverbs_ex_modify_qp_resp, the response of
// IB_USER_VERBS_EX_CMD_MODIFY_QP.
type IBUverbsExModifyQPResp struct {
	_              structs.HostLayout
	CompMask       uint32
	ResponseLength uint32
}

// IBUverbsDestroyQP is struct ib_uverbs_destroy_qp, the request of
// IB_USER_VERBS_CMD_DESTROY_QP.
type IBUverbsDestroyQP struct {
	_        structs.HostLayout
	Response uint64
	QPHandle uint32
	Reserved uint32
}

// IBUverbsDestroyQPResp is struct ib_uverbs_destroy_qp_resp, the response of
// IB_USER_VERBS_CMD_DESTROY_QP: how many events of the QP were handed out.
type IBUverbsDestroyQPResp struct {
	_              structs.HostLayout
	EventsReported uint32
}
