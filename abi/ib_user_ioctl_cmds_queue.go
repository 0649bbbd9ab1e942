// This file mirrors the methods and attributes of CQ, QP, SRQ, WQ, indirection table, XRC
// domain, address handle and completion counter of include/uapi/rdma/ib_user_ioctl_cmds.h.

package abi

// UverbsAttrsCreateCQCmdAttrIds is enum uverbs_attrs_create_cq_cmd_attr_ids, the
// attributes of UVERBS_METHOD_CQ_CREATE. The buffer attributes exist in Linux 7.3, not in
// 6.12.
type UverbsAttrsCreateCQCmdAttrIds uint32

// Values of UverbsAttrsCreateCQCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_CQ_HANDLE        UverbsAttrsCreateCQCmdAttrIds = 0
	UVERBS_ATTR_CREATE_CQ_CQE           UverbsAttrsCreateCQCmdAttrIds = 1
	UVERBS_ATTR_CREATE_CQ_USER_HANDLE   UverbsAttrsCreateCQCmdAttrIds = 2
	UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL  UverbsAttrsCreateCQCmdAttrIds = 3
	UVERBS_ATTR_CREATE_CQ_COMP_VECTOR   UverbsAttrsCreateCQCmdAttrIds = 4
	UVERBS_ATTR_CREATE_CQ_FLAGS         UverbsAttrsCreateCQCmdAttrIds = 5
	UVERBS_ATTR_CREATE_CQ_RESP_CQE      UverbsAttrsCreateCQCmdAttrIds = 6
	UVERBS_ATTR_CREATE_CQ_EVENT_FD      UverbsAttrsCreateCQCmdAttrIds = 7
	UVERBS_ATTR_CREATE_CQ_BUFFER_VA     UverbsAttrsCreateCQCmdAttrIds = 8
	UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH UverbsAttrsCreateCQCmdAttrIds = 9
	UVERBS_ATTR_CREATE_CQ_BUFFER_FD     UverbsAttrsCreateCQCmdAttrIds = 10
	UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET UverbsAttrsCreateCQCmdAttrIds = 11
	UVERBS_ATTR_CREATE_CQ_BUF_UMEM      UverbsAttrsCreateCQCmdAttrIds = 12
)

// UverbsAttrsDestroyCQCmdAttrIds is enum uverbs_attrs_destroy_cq_cmd_attr_ids, the
// attributes of UVERBS_METHOD_CQ_DESTROY. RESP is an IBUverbsDestroyCQResp.
type UverbsAttrsDestroyCQCmdAttrIds uint32

// Values of UverbsAttrsDestroyCQCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_CQ_HANDLE UverbsAttrsDestroyCQCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_CQ_RESP   UverbsAttrsDestroyCQCmdAttrIds = 1
)

// UverbsAttrsCreateQPCmdAttrIds is enum uverbs_attrs_create_qp_cmd_attr_ids, the
// attributes of UVERBS_METHOD_QP_CREATE. CAP and RESP_CAP are IBUverbsQPCap. The buffer
// attributes exist in Linux 7.3, not in 6.12.
type UverbsAttrsCreateQPCmdAttrIds uint32

// Values of UverbsAttrsCreateQPCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_QP_HANDLE           UverbsAttrsCreateQPCmdAttrIds = 0
	UVERBS_ATTR_CREATE_QP_XRCD_HANDLE      UverbsAttrsCreateQPCmdAttrIds = 1
	UVERBS_ATTR_CREATE_QP_PD_HANDLE        UverbsAttrsCreateQPCmdAttrIds = 2
	UVERBS_ATTR_CREATE_QP_SRQ_HANDLE       UverbsAttrsCreateQPCmdAttrIds = 3
	UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE   UverbsAttrsCreateQPCmdAttrIds = 4
	UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE   UverbsAttrsCreateQPCmdAttrIds = 5
	UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE UverbsAttrsCreateQPCmdAttrIds = 6
	UVERBS_ATTR_CREATE_QP_USER_HANDLE      UverbsAttrsCreateQPCmdAttrIds = 7
	UVERBS_ATTR_CREATE_QP_CAP              UverbsAttrsCreateQPCmdAttrIds = 8
	UVERBS_ATTR_CREATE_QP_TYPE             UverbsAttrsCreateQPCmdAttrIds = 9
	UVERBS_ATTR_CREATE_QP_FLAGS            UverbsAttrsCreateQPCmdAttrIds = 10
	UVERBS_ATTR_CREATE_QP_SOURCE_QPN       UverbsAttrsCreateQPCmdAttrIds = 11
	UVERBS_ATTR_CREATE_QP_EVENT_FD         UverbsAttrsCreateQPCmdAttrIds = 12
	UVERBS_ATTR_CREATE_QP_RESP_CAP         UverbsAttrsCreateQPCmdAttrIds = 13
	UVERBS_ATTR_CREATE_QP_RESP_QP_NUM      UverbsAttrsCreateQPCmdAttrIds = 14
	UVERBS_ATTR_CREATE_QP_BUF_UMEM         UverbsAttrsCreateQPCmdAttrIds = 15
	UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM      UverbsAttrsCreateQPCmdAttrIds = 16
	UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM      UverbsAttrsCreateQPCmdAttrIds = 17
)

// UverbsAttrsDestroyQPCmdAttrIds is enum uverbs_attrs_destroy_qp_cmd_attr_ids, the
// attributes of UVERBS_METHOD_QP_DESTROY. RESP is an IBUverbsDestroyQPResp.
type UverbsAttrsDestroyQPCmdAttrIds uint32

// Values of UverbsAttrsDestroyQPCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_QP_HANDLE UverbsAttrsDestroyQPCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_QP_RESP   UverbsAttrsDestroyQPCmdAttrIds = 1
)

// UverbsAttrsQPAttachCompCntrCmdAttrIds is enum
// uverbs_attrs_qp_attach_comp_cntr_cmd_attr_ids, the attributes of
// UVERBS_METHOD_QP_ATTACH_COMP_CNTR. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsQPAttachCompCntrCmdAttrIds uint32

// Values of UverbsAttrsQPAttachCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE      UverbsAttrsQPAttachCompCntrCmdAttrIds = 0
	UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE UverbsAttrsQPAttachCompCntrCmdAttrIds = 1
	UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK     UverbsAttrsQPAttachCompCntrCmdAttrIds = 2
)

// UverbsMethodsQP is enum uverbs_methods_qp, the methods of UVERBS_OBJECT_QP, the value of
// IBUverbsIoctlHdr.MethodID. ATTACH_COMP_CNTR exists in Linux 7.3, not in 6.12.
type UverbsMethodsQP uint32

// Values of UverbsMethodsQP.
const (
	UVERBS_METHOD_QP_CREATE           UverbsMethodsQP = 0
	UVERBS_METHOD_QP_DESTROY          UverbsMethodsQP = 1
	UVERBS_METHOD_QP_ATTACH_COMP_CNTR UverbsMethodsQP = 2
)

// UverbsAttrsCreateSRQCmdAttrIds is enum uverbs_attrs_create_srq_cmd_attr_ids, the
// attributes of UVERBS_METHOD_SRQ_CREATE. BUF_UMEM exists in Linux 7.3, not in 6.12.
type UverbsAttrsCreateSRQCmdAttrIds uint32

// Values of UverbsAttrsCreateSRQCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_SRQ_HANDLE       UverbsAttrsCreateSRQCmdAttrIds = 0
	UVERBS_ATTR_CREATE_SRQ_PD_HANDLE    UverbsAttrsCreateSRQCmdAttrIds = 1
	UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE  UverbsAttrsCreateSRQCmdAttrIds = 2
	UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE    UverbsAttrsCreateSRQCmdAttrIds = 3
	UVERBS_ATTR_CREATE_SRQ_USER_HANDLE  UverbsAttrsCreateSRQCmdAttrIds = 4
	UVERBS_ATTR_CREATE_SRQ_MAX_WR       UverbsAttrsCreateSRQCmdAttrIds = 5
	UVERBS_ATTR_CREATE_SRQ_MAX_SGE      UverbsAttrsCreateSRQCmdAttrIds = 6
	UVERBS_ATTR_CREATE_SRQ_LIMIT        UverbsAttrsCreateSRQCmdAttrIds = 7
	UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS UverbsAttrsCreateSRQCmdAttrIds = 8
	UVERBS_ATTR_CREATE_SRQ_TYPE         UverbsAttrsCreateSRQCmdAttrIds = 9
	UVERBS_ATTR_CREATE_SRQ_EVENT_FD     UverbsAttrsCreateSRQCmdAttrIds = 10
	UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR  UverbsAttrsCreateSRQCmdAttrIds = 11
	UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE UverbsAttrsCreateSRQCmdAttrIds = 12
	UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM UverbsAttrsCreateSRQCmdAttrIds = 13
	UVERBS_ATTR_CREATE_SRQ_BUF_UMEM     UverbsAttrsCreateSRQCmdAttrIds = 14
)

// UverbsAttrsDestroySRQCmdAttrIds is enum uverbs_attrs_destroy_srq_cmd_attr_ids, the
// attributes of UVERBS_METHOD_SRQ_DESTROY. RESP is an IBUverbsDestroySRQResp.
type UverbsAttrsDestroySRQCmdAttrIds uint32

// Values of UverbsAttrsDestroySRQCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_SRQ_HANDLE UverbsAttrsDestroySRQCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_SRQ_RESP   UverbsAttrsDestroySRQCmdAttrIds = 1
)

// UverbsMethodsSRQ is enum uverbs_methods_srq, the methods of UVERBS_OBJECT_SRQ, the value
// of IBUverbsIoctlHdr.MethodID.
type UverbsMethodsSRQ uint32

// Values of UverbsMethodsSRQ.
const (
	UVERBS_METHOD_SRQ_CREATE  UverbsMethodsSRQ = 0
	UVERBS_METHOD_SRQ_DESTROY UverbsMethodsSRQ = 1
)

// UverbsMethodsCQ is enum uverbs_methods_cq, the methods of UVERBS_OBJECT_CQ, the value of
// IBUverbsIoctlHdr.MethodID.
type UverbsMethodsCQ uint32

// Values of UverbsMethodsCQ.
const (
	UVERBS_METHOD_CQ_CREATE  UverbsMethodsCQ = 0
	UVERBS_METHOD_CQ_DESTROY UverbsMethodsCQ = 1
)

// UverbsAttrsCreateWQCmdAttrIds is enum uverbs_attrs_create_wq_cmd_attr_ids, the
// attributes of UVERBS_METHOD_WQ_CREATE.
type UverbsAttrsCreateWQCmdAttrIds uint32

// Values of UverbsAttrsCreateWQCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_WQ_HANDLE       UverbsAttrsCreateWQCmdAttrIds = 0
	UVERBS_ATTR_CREATE_WQ_PD_HANDLE    UverbsAttrsCreateWQCmdAttrIds = 1
	UVERBS_ATTR_CREATE_WQ_CQ_HANDLE    UverbsAttrsCreateWQCmdAttrIds = 2
	UVERBS_ATTR_CREATE_WQ_USER_HANDLE  UverbsAttrsCreateWQCmdAttrIds = 3
	UVERBS_ATTR_CREATE_WQ_TYPE         UverbsAttrsCreateWQCmdAttrIds = 4
	UVERBS_ATTR_CREATE_WQ_EVENT_FD     UverbsAttrsCreateWQCmdAttrIds = 5
	UVERBS_ATTR_CREATE_WQ_MAX_WR       UverbsAttrsCreateWQCmdAttrIds = 6
	UVERBS_ATTR_CREATE_WQ_MAX_SGE      UverbsAttrsCreateWQCmdAttrIds = 7
	UVERBS_ATTR_CREATE_WQ_FLAGS        UverbsAttrsCreateWQCmdAttrIds = 8
	UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR  UverbsAttrsCreateWQCmdAttrIds = 9
	UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE UverbsAttrsCreateWQCmdAttrIds = 10
	UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM  UverbsAttrsCreateWQCmdAttrIds = 11
)

// UverbsAttrsDestroyWQCmdAttrIds is enum uverbs_attrs_destroy_wq_cmd_attr_ids, the
// attributes of UVERBS_METHOD_WQ_DESTROY.
type UverbsAttrsDestroyWQCmdAttrIds uint32

// Values of UverbsAttrsDestroyWQCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_WQ_HANDLE UverbsAttrsDestroyWQCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_WQ_RESP   UverbsAttrsDestroyWQCmdAttrIds = 1
)

// UverbsMethodsWQ is enum uverbs_methods_wq, the methods of UVERBS_OBJECT_WQ, the value of
// IBUverbsIoctlHdr.MethodID.
type UverbsMethodsWQ uint32

// Values of UverbsMethodsWQ.
const (
	UVERBS_METHOD_WQ_CREATE  UverbsMethodsWQ = 0
	UVERBS_METHOD_WQ_DESTROY UverbsMethodsWQ = 1
)

// UverbsMethodsXRCD is enum uverbs_methods_xrcd, the methods of UVERBS_OBJECT_XRCD, the
// value of IBUverbsIoctlHdr.MethodID.
type UverbsMethodsXRCD uint32

// Values of UverbsMethodsXRCD.
const (
	UVERBS_METHOD_XRCD_DESTROY UverbsMethodsXRCD = 0
)

// UverbsAttrsXRCDDestroyIds is enum uverbs_attrs_xrcd_destroy_ids, the attributes of
// UVERBS_METHOD_XRCD_DESTROY.
type UverbsAttrsXRCDDestroyIds uint32

// Values of UverbsAttrsXRCDDestroyIds.
const (
	UVERBS_ATTR_DESTROY_XRCD_HANDLE UverbsAttrsXRCDDestroyIds = 0
)

// UverbsMethodsAH is enum uverbs_methods_ah, the methods of UVERBS_OBJECT_AH, the value of
// IBUverbsIoctlHdr.MethodID.
type UverbsMethodsAH uint32

// Values of UverbsMethodsAH.
const (
	UVERBS_METHOD_AH_DESTROY UverbsMethodsAH = 0
)

// UverbsAttrsAHDestroyIds is enum uverbs_attrs_ah_destroy_ids, the attributes of
// UVERBS_METHOD_AH_DESTROY.
type UverbsAttrsAHDestroyIds uint32

// Values of UverbsAttrsAHDestroyIds.
const (
	UVERBS_ATTR_DESTROY_AH_HANDLE UverbsAttrsAHDestroyIds = 0
)

// UverbsMethodsRWQIndTbl is enum uverbs_methods_rwq_ind_tbl, the methods of
// UVERBS_OBJECT_RWQ_IND_TBL, the value of IBUverbsIoctlHdr.MethodID.
type UverbsMethodsRWQIndTbl uint32

// Values of UverbsMethodsRWQIndTbl.
const (
	UVERBS_METHOD_RWQ_IND_TBL_DESTROY UverbsMethodsRWQIndTbl = 0
)

// UverbsAttrsRWQIndTblDestroyIds is enum uverbs_attrs_rwq_ind_tbl_destroy_ids, the
// attributes of UVERBS_METHOD_RWQ_IND_TBL_DESTROY.
type UverbsAttrsRWQIndTblDestroyIds uint32

// Values of UverbsAttrsRWQIndTblDestroyIds.
const (
	UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE UverbsAttrsRWQIndTblDestroyIds = 0
)

// UverbsMethodsCompCntr is enum uverbs_methods_comp_cntr, the methods of
// UVERBS_OBJECT_COMP_CNTR, the value of IBUverbsIoctlHdr.MethodID. Linux 7.3 has it, 6.12
// has not.
type UverbsMethodsCompCntr uint32

// Values of UverbsMethodsCompCntr.
const (
	UVERBS_METHOD_COMP_CNTR_CREATE  UverbsMethodsCompCntr = 0
	UVERBS_METHOD_COMP_CNTR_DESTROY UverbsMethodsCompCntr = 1
	UVERBS_METHOD_COMP_CNTR_MODIFY  UverbsMethodsCompCntr = 2
	UVERBS_METHOD_COMP_CNTR_READ    UverbsMethodsCompCntr = 3
)

// UverbsAttrsCreateCompCntrCmdAttrIds is enum uverbs_attrs_create_comp_cntr_cmd_attr_ids,
// the attributes of UVERBS_METHOD_COMP_CNTR_CREATE. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsCreateCompCntrCmdAttrIds uint32

// Values of UverbsAttrsCreateCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE UverbsAttrsCreateCompCntrCmdAttrIds = 0
)

// UverbsAttrsDestroyCompCntrCmdAttrIds is enum
// uverbs_attrs_destroy_comp_cntr_cmd_attr_ids, the attributes of
// UVERBS_METHOD_COMP_CNTR_DESTROY. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsDestroyCompCntrCmdAttrIds uint32

// Values of UverbsAttrsDestroyCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE UverbsAttrsDestroyCompCntrCmdAttrIds = 0
)

// UverbsAttrsModifyCompCntrCmdAttrIds is enum uverbs_attrs_modify_comp_cntr_cmd_attr_ids,
// the attributes of UVERBS_METHOD_COMP_CNTR_MODIFY. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsModifyCompCntrCmdAttrIds uint32

// Values of UverbsAttrsModifyCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE UverbsAttrsModifyCompCntrCmdAttrIds = 0
	UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY  UverbsAttrsModifyCompCntrCmdAttrIds = 1
	UVERBS_ATTR_MODIFY_COMP_CNTR_OP     UverbsAttrsModifyCompCntrCmdAttrIds = 2
	UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE  UverbsAttrsModifyCompCntrCmdAttrIds = 3
)

// UverbsAttrsReadCompCntrCmdAttrIds is enum uverbs_attrs_read_comp_cntr_cmd_attr_ids, the
// attributes of UVERBS_METHOD_COMP_CNTR_READ. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsReadCompCntrCmdAttrIds uint32

// Values of UverbsAttrsReadCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_READ_COMP_CNTR_HANDLE     UverbsAttrsReadCompCntrCmdAttrIds = 0
	UVERBS_ATTR_READ_COMP_CNTR_ENTRY      UverbsAttrsReadCompCntrCmdAttrIds = 1
	UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE UverbsAttrsReadCompCntrCmdAttrIds = 2
)
