// This file mirrors the access flags, queue types, driver ids and buffer descriptors of
// include/uapi/rdma/ib_user_ioctl_verbs.h.

package abi

import "structs"

// The range of access flags that a kernel may ignore when it does not know them.
const (
	IB_UVERBS_ACCESS_OPTIONAL_FIRST = 1 << 20
	IB_UVERBS_ACCESS_OPTIONAL_LAST  = 1 << 29
)

// IBUverbsCoreSupport is enum ib_uverbs_core_support, abilities of the core that a context
// reports. ROBUST_UDATA exists in Linux 7.3, not in 6.12.
type IBUverbsCoreSupport uint32

// Values of IBUverbsCoreSupport.
const (
	IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS IBUverbsCoreSupport = 1 << 0
	IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA       IBUverbsCoreSupport = 1 << 1
)

// IBUverbsAccessFlags is enum ib_uverbs_access_flags, access rights of memory regions and
// QPs. The FLUSH rights are newer than Linux 6.1.
type IBUverbsAccessFlags uint32

// Values of IBUverbsAccessFlags.
const (
	IB_UVERBS_ACCESS_LOCAL_WRITE      IBUverbsAccessFlags = 1 << 0
	IB_UVERBS_ACCESS_REMOTE_WRITE     IBUverbsAccessFlags = 1 << 1
	IB_UVERBS_ACCESS_REMOTE_READ      IBUverbsAccessFlags = 1 << 2
	IB_UVERBS_ACCESS_REMOTE_ATOMIC    IBUverbsAccessFlags = 1 << 3
	IB_UVERBS_ACCESS_MW_BIND          IBUverbsAccessFlags = 1 << 4
	IB_UVERBS_ACCESS_ZERO_BASED       IBUverbsAccessFlags = 1 << 5
	IB_UVERBS_ACCESS_ON_DEMAND        IBUverbsAccessFlags = 1 << 6
	IB_UVERBS_ACCESS_HUGETLB          IBUverbsAccessFlags = 1 << 7
	IB_UVERBS_ACCESS_FLUSH_GLOBAL     IBUverbsAccessFlags = 1 << 8
	IB_UVERBS_ACCESS_FLUSH_PERSISTENT IBUverbsAccessFlags = 1 << 9
	IB_UVERBS_ACCESS_RELAXED_ORDERING IBUverbsAccessFlags = 1048576
	IB_UVERBS_ACCESS_OPTIONAL_RANGE   IBUverbsAccessFlags = 1072693248
)

// IBUverbsSRQType is enum ib_uverbs_srq_type, the type of a shared receive queue.
type IBUverbsSRQType uint32

// Values of IBUverbsSRQType.
const (
	IB_UVERBS_SRQT_BASIC IBUverbsSRQType = 0
	IB_UVERBS_SRQT_XRC   IBUverbsSRQType = 1
	IB_UVERBS_SRQT_TM    IBUverbsSRQType = 2
)

// IBUverbsWQType is enum ib_uverbs_wq_type, the type of a work queue.
type IBUverbsWQType uint32

// Values of IBUverbsWQType.
const (
	IB_UVERBS_WQT_RQ IBUverbsWQType = 0
)

// IBUverbsWQFlags is enum ib_uverbs_wq_flags, options of a work queue.
type IBUverbsWQFlags uint32

// Values of IBUverbsWQFlags.
const (
	IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING       IBUverbsWQFlags = 1 << 0
	IB_UVERBS_WQ_FLAGS_SCATTER_FCS           IBUverbsWQFlags = 1 << 1
	IB_UVERBS_WQ_FLAGS_DELAY_DROP            IBUverbsWQFlags = 1 << 2
	IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING IBUverbsWQFlags = 1 << 3
)

// IBUverbsQPType is enum ib_uverbs_qp_type, the QP types of UVERBS_ATTR_CREATE_QP_TYPE.
// IBQPType has the same numbers.
type IBUverbsQPType uint32

// Values of IBUverbsQPType.
const (
	IB_UVERBS_QPT_RC         IBUverbsQPType = 2
	IB_UVERBS_QPT_UC         IBUverbsQPType = 3
	IB_UVERBS_QPT_UD         IBUverbsQPType = 4
	IB_UVERBS_QPT_RAW_PACKET IBUverbsQPType = 8
	IB_UVERBS_QPT_XRC_INI    IBUverbsQPType = 9
	IB_UVERBS_QPT_XRC_TGT    IBUverbsQPType = 10
	IB_UVERBS_QPT_DRIVER     IBUverbsQPType = 0xFF
)

// IBUverbsQPCreateFlags is enum ib_uverbs_qp_create_flags, options of a new QP.
type IBUverbsQPCreateFlags uint32

// Values of IBUverbsQPCreateFlags.
const (
	IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK IBUverbsQPCreateFlags = 1 << 1
	IB_UVERBS_QP_CREATE_SCATTER_FCS              IBUverbsQPCreateFlags = 1 << 8
	IB_UVERBS_QP_CREATE_CVLAN_STRIPPING          IBUverbsQPCreateFlags = 1 << 9
	IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING    IBUverbsQPCreateFlags = 1 << 11
	IB_UVERBS_QP_CREATE_SQ_SIG_ALL               IBUverbsQPCreateFlags = 1 << 12
)

// IBUverbsReadCountersFlags is enum ib_uverbs_read_counters_flags, bits of
// UVERBS_ATTR_READ_COUNTERS_FLAGS.
type IBUverbsReadCountersFlags uint32

// Values of IBUverbsReadCountersFlags.
const (
	IB_UVERBS_READ_COUNTERS_PREFER_CACHED IBUverbsReadCountersFlags = 1 << 0
)

// IBUverbsAdviseMRAdvice is enum ib_uverbs_advise_mr_advice, the advice of
// UVERBS_METHOD_ADVISE_MR.
type IBUverbsAdviseMRAdvice uint32

// Values of IBUverbsAdviseMRAdvice.
const (
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH          IBUverbsAdviseMRAdvice = 0
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE    IBUverbsAdviseMRAdvice = 1
	IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT IBUverbsAdviseMRAdvice = 2
)

// IBUverbsAdviseMRFlag is enum ib_uverbs_advise_mr_flag, bits of
// UVERBS_ATTR_ADVISE_MR_FLAGS. FLUSH waits for the advice to be carried out.
type IBUverbsAdviseMRFlag uint32

// Values of IBUverbsAdviseMRFlag.
const (
	IB_UVERBS_ADVISE_MR_FLAG_FLUSH IBUverbsAdviseMRFlag = 1 << 0
)

// IBUverbsQPCap is struct ib_uverbs_qp_cap, the sizes of a QP in UVERBS_METHOD_QP_CREATE.
type IBUverbsQPCap struct {
	_             structs.HostLayout
	MaxSendWR     uint32
	MaxRecvWR     uint32
	MaxSendSGE    uint32
	MaxRecvSGE    uint32
	MaxInlineData uint32
}

// RDMADriverID is enum rdma_driver_id, the kernel driver of a device, which decides the
// layout of driver payloads and rings. IRDMA took over the number of I40IW. ERDMA is newer
// than Linux 5.10, MANA newer than 6.1, IONIC newer than 6.12.
type RDMADriverID uint32

// Values of RDMADriverID.
const (
	RDMA_DRIVER_UNKNOWN    RDMADriverID = 0
	RDMA_DRIVER_MLX5       RDMADriverID = 1
	RDMA_DRIVER_MLX4       RDMADriverID = 2
	RDMA_DRIVER_CXGB3      RDMADriverID = 3
	RDMA_DRIVER_CXGB4      RDMADriverID = 4
	RDMA_DRIVER_MTHCA      RDMADriverID = 5
	RDMA_DRIVER_BNXT_RE    RDMADriverID = 6
	RDMA_DRIVER_OCRDMA     RDMADriverID = 7
	RDMA_DRIVER_NES        RDMADriverID = 8
	RDMA_DRIVER_I40IW      RDMADriverID = 9
	RDMA_DRIVER_IRDMA      RDMADriverID = 9
	RDMA_DRIVER_VMW_PVRDMA RDMADriverID = 10
	RDMA_DRIVER_QEDR       RDMADriverID = 11
	RDMA_DRIVER_HNS        RDMADriverID = 12
	RDMA_DRIVER_USNIC      RDMADriverID = 13
	RDMA_DRIVER_RXE        RDMADriverID = 14
	RDMA_DRIVER_HFI1       RDMADriverID = 15
	RDMA_DRIVER_QIB        RDMADriverID = 16
	RDMA_DRIVER_EFA        RDMADriverID = 17
	RDMA_DRIVER_SIW        RDMADriverID = 18
	RDMA_DRIVER_ERDMA      RDMADriverID = 19
	RDMA_DRIVER_MANA       RDMADriverID = 20
	RDMA_DRIVER_IONIC      RDMADriverID = 21
)

// IBUverbsBufferType is enum ib_uverbs_buffer_type, the kind of memory an
// IBUverbsBufferDesc names. Linux 7.3 has it, 6.12 has not.
type IBUverbsBufferType uint32

// Values of IBUverbsBufferType.
const (
	IB_UVERBS_BUFFER_TYPE_DMABUF IBUverbsBufferType = 0
	IB_UVERBS_BUFFER_TYPE_VA     IBUverbsBufferType = 1
)

// IBUverbsBufferDesc is struct ib_uverbs_buffer_desc, a buffer in a dma-buf or at a user
// address, the payload of the UMEM attributes. FD counts for dma-bufs only; Addr is an
// offset there and an address otherwise. No flags are defined. Linux 7.3 has it, 6.12 has
// not.
type IBUverbsBufferDesc struct {
	_             structs.HostLayout
	Type          uint32 // IBUverbsBufferType
	FD            int32
	Flags         uint32
	OptionalFlags uint32
	Addr          uint64
	Length        uint64
}

// IBUverbsCompCntrEntry is enum ib_uverbs_comp_cntr_entry, which of the two values of a
// completion counter is meant. Linux 7.3 has it, 6.12 has not.
type IBUverbsCompCntrEntry uint32

// Values of IBUverbsCompCntrEntry.
const (
	IB_UVERBS_COMP_CNTR_ENTRY_COMP IBUverbsCompCntrEntry = 0
	IB_UVERBS_COMP_CNTR_ENTRY_ERR  IBUverbsCompCntrEntry = 1
)

// IBUverbsCompCntrModifyOp is enum ib_uverbs_comp_cntr_modify_op, how
// UVERBS_METHOD_COMP_CNTR_MODIFY changes a counter. Linux 7.3 has it, 6.12 has not.
type IBUverbsCompCntrModifyOp uint32

// Values of IBUverbsCompCntrModifyOp.
const (
	IB_UVERBS_COMP_CNTR_MODIFY_OP_SET IBUverbsCompCntrModifyOp = 0
	IB_UVERBS_COMP_CNTR_MODIFY_OP_INC IBUverbsCompCntrModifyOp = 1
)

// IBUverbsQPAttachCompCntrOp is enum ib_uverbs_qp_attach_comp_cntr_op, bits of
// UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK: the operations a completion counter counts.
// Linux 7.3 has it, 6.12 has not.
type IBUverbsQPAttachCompCntrOp uint32

// Values of IBUverbsQPAttachCompCntrOp.
const (
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_SEND              IBUverbsQPAttachCompCntrOp = 1 << 0
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RECV              IBUverbsQPAttachCompCntrOp = 1 << 1
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_READ         IBUverbsQPAttachCompCntrOp = 1 << 2
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ  IBUverbsQPAttachCompCntrOp = 1 << 3
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE        IBUverbsQPAttachCompCntrOp = 1 << 4
	IB_UVERBS_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE IBUverbsQPAttachCompCntrOp = 1 << 5
)
