// This file mirrors include/uapi/rdma/ib_user_ioctl_cmds.h.

package abi

// Constants starting with UVERBS_ID_NS_MASK.
const (
	UVERBS_ID_NS_MASK  = 0xF000
	UVERBS_ID_NS_SHIFT = 12
)

// UverbsDefaultObjects mirrors enum uverbs_default_objects.
type UverbsDefaultObjects uint32

// Values of UverbsDefaultObjects.
const (
	UVERBS_OBJECT_DEVICE       UverbsDefaultObjects = 0
	UVERBS_OBJECT_PD           UverbsDefaultObjects = 1
	UVERBS_OBJECT_COMP_CHANNEL UverbsDefaultObjects = 2
	UVERBS_OBJECT_CQ           UverbsDefaultObjects = 3
	UVERBS_OBJECT_QP           UverbsDefaultObjects = 4
	UVERBS_OBJECT_SRQ          UverbsDefaultObjects = 5
	UVERBS_OBJECT_AH           UverbsDefaultObjects = 6
	UVERBS_OBJECT_MR           UverbsDefaultObjects = 7
	UVERBS_OBJECT_MW           UverbsDefaultObjects = 8
	UVERBS_OBJECT_FLOW         UverbsDefaultObjects = 9
	UVERBS_OBJECT_XRCD         UverbsDefaultObjects = 10
	UVERBS_OBJECT_RWQ_IND_TBL  UverbsDefaultObjects = 11
	UVERBS_OBJECT_WQ           UverbsDefaultObjects = 12
	UVERBS_OBJECT_FLOW_ACTION  UverbsDefaultObjects = 13
	UVERBS_OBJECT_DM           UverbsDefaultObjects = 14
	UVERBS_OBJECT_COUNTERS     UverbsDefaultObjects = 15
	UVERBS_OBJECT_ASYNC_EVENT  UverbsDefaultObjects = 16
	UVERBS_OBJECT_DMAH         UverbsDefaultObjects = 17
	UVERBS_OBJECT_DMABUF       UverbsDefaultObjects = 18
	UVERBS_OBJECT_COMP_CNTR    UverbsDefaultObjects = 19
)

// Constants starting with UVERBS_ID_DRIVER_NS.
const (
	UVERBS_ID_DRIVER_NS          = 4096
	UVERBS_ATTR_UHW_IN           = 4096
	UVERBS_ATTR_UHW_OUT          = 4097
	UVERBS_ID_DRIVER_NS_WITH_UHW = 4098
)

// UverbsMethodsDevice mirrors enum uverbs_methods_device.
type UverbsMethodsDevice uint32

// Values of UverbsMethodsDevice.
const (
	UVERBS_METHOD_INVOKE_WRITE         UverbsMethodsDevice = 0
	UVERBS_METHOD_INFO_HANDLES         UverbsMethodsDevice = 1
	UVERBS_METHOD_QUERY_PORT           UverbsMethodsDevice = 2
	UVERBS_METHOD_GET_CONTEXT          UverbsMethodsDevice = 3
	UVERBS_METHOD_QUERY_CONTEXT        UverbsMethodsDevice = 4
	UVERBS_METHOD_QUERY_GID_TABLE      UverbsMethodsDevice = 5
	UVERBS_METHOD_QUERY_GID_ENTRY      UverbsMethodsDevice = 6
	UVERBS_METHOD_QUERY_PORT_SPEED     UverbsMethodsDevice = 7
	UVERBS_METHOD_QUERY_COMP_CNTR_CAPS UverbsMethodsDevice = 8
)

// UverbsAttrsInvokeWriteCmdAttrIds mirrors enum uverbs_attrs_invoke_write_cmd_attr_ids.
type UverbsAttrsInvokeWriteCmdAttrIds uint32

// Values of UverbsAttrsInvokeWriteCmdAttrIds.
const (
	UVERBS_ATTR_CORE_IN   UverbsAttrsInvokeWriteCmdAttrIds = 0
	UVERBS_ATTR_CORE_OUT  UverbsAttrsInvokeWriteCmdAttrIds = 1
	UVERBS_ATTR_WRITE_CMD UverbsAttrsInvokeWriteCmdAttrIds = 2
)

// UverbsAttrsQueryPortCmdAttrIds mirrors enum uverbs_attrs_query_port_cmd_attr_ids.
type UverbsAttrsQueryPortCmdAttrIds uint32

// Values of UverbsAttrsQueryPortCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_PORT_PORT_NUM UverbsAttrsQueryPortCmdAttrIds = 0
	UVERBS_ATTR_QUERY_PORT_RESP     UverbsAttrsQueryPortCmdAttrIds = 1
)

// UverbsAttrsQueryPortSpeedCmdAttrIds mirrors enum
// uverbs_attrs_query_port_speed_cmd_attr_ids.
type UverbsAttrsQueryPortSpeedCmdAttrIds uint32

// Values of UverbsAttrsQueryPortSpeedCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM UverbsAttrsQueryPortSpeedCmdAttrIds = 0
	UVERBS_ATTR_QUERY_PORT_SPEED_RESP     UverbsAttrsQueryPortSpeedCmdAttrIds = 1
)

// UverbsAttrsQueryCompCntrCapsAttrIds mirrors enum
// uverbs_attrs_query_comp_cntr_caps_attr_ids.
type UverbsAttrsQueryCompCntrCapsAttrIds uint32

// Values of UverbsAttrsQueryCompCntrCapsAttrIds.
const (
	UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS            UverbsAttrsQueryCompCntrCapsAttrIds = 0
	UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE               UverbsAttrsQueryCompCntrCapsAttrIds = 1
	UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS UverbsAttrsQueryCompCntrCapsAttrIds = 2
)

// UverbsAttrsGetContextAttrIds mirrors enum uverbs_attrs_get_context_attr_ids.
type UverbsAttrsGetContextAttrIds uint32

// Values of UverbsAttrsGetContextAttrIds.
const (
	UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS UverbsAttrsGetContextAttrIds = 0
	UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT     UverbsAttrsGetContextAttrIds = 1
	UVERBS_ATTR_GET_CONTEXT_FD_ARR           UverbsAttrsGetContextAttrIds = 2
)

// UverbsAttrsQueryContextAttrIds mirrors enum uverbs_attrs_query_context_attr_ids.
type UverbsAttrsQueryContextAttrIds uint32

// Values of UverbsAttrsQueryContextAttrIds.
const (
	UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS UverbsAttrsQueryContextAttrIds = 0
	UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT     UverbsAttrsQueryContextAttrIds = 1
)

// UverbsAttrsCreateCQCmdAttrIds mirrors enum uverbs_attrs_create_cq_cmd_attr_ids.
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

// UverbsAttrsDestroyCQCmdAttrIds mirrors enum uverbs_attrs_destroy_cq_cmd_attr_ids.
type UverbsAttrsDestroyCQCmdAttrIds uint32

// Values of UverbsAttrsDestroyCQCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_CQ_HANDLE UverbsAttrsDestroyCQCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_CQ_RESP   UverbsAttrsDestroyCQCmdAttrIds = 1
)

// UverbsAttrsCreateFlowActionEsp mirrors enum uverbs_attrs_create_flow_action_esp.
type UverbsAttrsCreateFlowActionEsp uint32

// Values of UverbsAttrsCreateFlowActionEsp.
const (
	UVERBS_ATTR_CREATE_FLOW_ACTION_ESP_HANDLE UverbsAttrsCreateFlowActionEsp = 0
	UVERBS_ATTR_FLOW_ACTION_ESP_ATTRS         UverbsAttrsCreateFlowActionEsp = 1
	UVERBS_ATTR_FLOW_ACTION_ESP_ESN           UverbsAttrsCreateFlowActionEsp = 2
	UVERBS_ATTR_FLOW_ACTION_ESP_KEYMAT        UverbsAttrsCreateFlowActionEsp = 3
	UVERBS_ATTR_FLOW_ACTION_ESP_REPLAY        UverbsAttrsCreateFlowActionEsp = 4
	UVERBS_ATTR_FLOW_ACTION_ESP_ENCAP         UverbsAttrsCreateFlowActionEsp = 5
)

// UverbsAttrsModifyFlowActionEsp mirrors enum uverbs_attrs_modify_flow_action_esp.
type UverbsAttrsModifyFlowActionEsp uint32

// Values of UverbsAttrsModifyFlowActionEsp.
const (
	UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE UverbsAttrsModifyFlowActionEsp = 0
)

// UverbsAttrsDestroyFlowActionEsp mirrors enum uverbs_attrs_destroy_flow_action_esp.
type UverbsAttrsDestroyFlowActionEsp uint32

// Values of UverbsAttrsDestroyFlowActionEsp.
const (
	UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE UverbsAttrsDestroyFlowActionEsp = 0
)

// UverbsAttrsCreateQPCmdAttrIds mirrors enum uverbs_attrs_create_qp_cmd_attr_ids.
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

// UverbsAttrsDestroyQPCmdAttrIds mirrors enum uverbs_attrs_destroy_qp_cmd_attr_ids.
type UverbsAttrsDestroyQPCmdAttrIds uint32

// Values of UverbsAttrsDestroyQPCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_QP_HANDLE UverbsAttrsDestroyQPCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_QP_RESP   UverbsAttrsDestroyQPCmdAttrIds = 1
)

// UverbsAttrsQPAttachCompCntrCmdAttrIds mirrors enum
// uverbs_attrs_qp_attach_comp_cntr_cmd_attr_ids.
type UverbsAttrsQPAttachCompCntrCmdAttrIds uint32

// Values of UverbsAttrsQPAttachCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE      UverbsAttrsQPAttachCompCntrCmdAttrIds = 0
	UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE UverbsAttrsQPAttachCompCntrCmdAttrIds = 1
	UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK     UverbsAttrsQPAttachCompCntrCmdAttrIds = 2
)

// UverbsMethodsQP mirrors enum uverbs_methods_qp.
type UverbsMethodsQP uint32

// Values of UverbsMethodsQP.
const (
	UVERBS_METHOD_QP_CREATE           UverbsMethodsQP = 0
	UVERBS_METHOD_QP_DESTROY          UverbsMethodsQP = 1
	UVERBS_METHOD_QP_ATTACH_COMP_CNTR UverbsMethodsQP = 2
)

// UverbsAttrsCreateSRQCmdAttrIds mirrors enum uverbs_attrs_create_srq_cmd_attr_ids.
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

// UverbsAttrsDestroySRQCmdAttrIds mirrors enum uverbs_attrs_destroy_srq_cmd_attr_ids.
type UverbsAttrsDestroySRQCmdAttrIds uint32

// Values of UverbsAttrsDestroySRQCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_SRQ_HANDLE UverbsAttrsDestroySRQCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_SRQ_RESP   UverbsAttrsDestroySRQCmdAttrIds = 1
)

// UverbsMethodsSRQ mirrors enum uverbs_methods_srq.
type UverbsMethodsSRQ uint32

// Values of UverbsMethodsSRQ.
const (
	UVERBS_METHOD_SRQ_CREATE  UverbsMethodsSRQ = 0
	UVERBS_METHOD_SRQ_DESTROY UverbsMethodsSRQ = 1
)

// UverbsMethodsCQ mirrors enum uverbs_methods_cq.
type UverbsMethodsCQ uint32

// Values of UverbsMethodsCQ.
const (
	UVERBS_METHOD_CQ_CREATE  UverbsMethodsCQ = 0
	UVERBS_METHOD_CQ_DESTROY UverbsMethodsCQ = 1
)

// UverbsAttrsCreateWQCmdAttrIds mirrors enum uverbs_attrs_create_wq_cmd_attr_ids.
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

// UverbsAttrsDestroyWQCmdAttrIds mirrors enum uverbs_attrs_destroy_wq_cmd_attr_ids.
type UverbsAttrsDestroyWQCmdAttrIds uint32

// Values of UverbsAttrsDestroyWQCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_WQ_HANDLE UverbsAttrsDestroyWQCmdAttrIds = 0
	UVERBS_ATTR_DESTROY_WQ_RESP   UverbsAttrsDestroyWQCmdAttrIds = 1
)

// UverbsMethodsWQ mirrors enum uverbs_methods_wq.
type UverbsMethodsWQ uint32

// Values of UverbsMethodsWQ.
const (
	UVERBS_METHOD_WQ_CREATE  UverbsMethodsWQ = 0
	UVERBS_METHOD_WQ_DESTROY UverbsMethodsWQ = 1
)

// UverbsMethodsActionsFlowActionOps mirrors enum uverbs_methods_actions_flow_action_ops.
type UverbsMethodsActionsFlowActionOps uint32

// Values of UverbsMethodsActionsFlowActionOps.
const (
	UVERBS_METHOD_FLOW_ACTION_ESP_CREATE UverbsMethodsActionsFlowActionOps = 0
	UVERBS_METHOD_FLOW_ACTION_DESTROY    UverbsMethodsActionsFlowActionOps = 1
	UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY UverbsMethodsActionsFlowActionOps = 2
)

// UverbsAttrsAllocDmCmdAttrIds mirrors enum uverbs_attrs_alloc_dm_cmd_attr_ids.
type UverbsAttrsAllocDmCmdAttrIds uint32

// Values of UverbsAttrsAllocDmCmdAttrIds.
const (
	UVERBS_ATTR_ALLOC_DM_HANDLE    UverbsAttrsAllocDmCmdAttrIds = 0
	UVERBS_ATTR_ALLOC_DM_LENGTH    UverbsAttrsAllocDmCmdAttrIds = 1
	UVERBS_ATTR_ALLOC_DM_ALIGNMENT UverbsAttrsAllocDmCmdAttrIds = 2
)

// UverbsAttrsFreeDmCmdAttrIds mirrors enum uverbs_attrs_free_dm_cmd_attr_ids.
type UverbsAttrsFreeDmCmdAttrIds uint32

// Values of UverbsAttrsFreeDmCmdAttrIds.
const (
	UVERBS_ATTR_FREE_DM_HANDLE UverbsAttrsFreeDmCmdAttrIds = 0
)

// UverbsMethodsDm mirrors enum uverbs_methods_dm.
type UverbsMethodsDm uint32

// Values of UverbsMethodsDm.
const (
	UVERBS_METHOD_DM_ALLOC UverbsMethodsDm = 0
	UVERBS_METHOD_DM_FREE  UverbsMethodsDm = 1
)

// UverbsAttrsAllocDmahCmdAttrIds mirrors enum uverbs_attrs_alloc_dmah_cmd_attr_ids.
type UverbsAttrsAllocDmahCmdAttrIds uint32

// Values of UverbsAttrsAllocDmahCmdAttrIds.
const (
	UVERBS_ATTR_ALLOC_DMAH_HANDLE       UverbsAttrsAllocDmahCmdAttrIds = 0
	UVERBS_ATTR_ALLOC_DMAH_CPU_ID       UverbsAttrsAllocDmahCmdAttrIds = 1
	UVERBS_ATTR_ALLOC_DMAH_TPH_MEM_TYPE UverbsAttrsAllocDmahCmdAttrIds = 2
	UVERBS_ATTR_ALLOC_DMAH_PH           UverbsAttrsAllocDmahCmdAttrIds = 3
)

// UverbsAttrsFreeDmahCmdAttrIds mirrors enum uverbs_attrs_free_dmah_cmd_attr_ids.
type UverbsAttrsFreeDmahCmdAttrIds uint32

// Values of UverbsAttrsFreeDmahCmdAttrIds.
const (
	UVERBS_ATTR_FREE_DMA_HANDLE UverbsAttrsFreeDmahCmdAttrIds = 0
)

// UverbsMethodsDmah mirrors enum uverbs_methods_dmah.
type UverbsMethodsDmah uint32

// Values of UverbsMethodsDmah.
const (
	UVERBS_METHOD_DMAH_ALLOC UverbsMethodsDmah = 0
	UVERBS_METHOD_DMAH_FREE  UverbsMethodsDmah = 1
)

// UverbsAttrsAllocDmabufCmdAttrIds mirrors enum uverbs_attrs_alloc_dmabuf_cmd_attr_ids.
type UverbsAttrsAllocDmabufCmdAttrIds uint32

// Values of UverbsAttrsAllocDmabufCmdAttrIds.
const (
	UVERBS_ATTR_ALLOC_DMABUF_HANDLE UverbsAttrsAllocDmabufCmdAttrIds = 0
	UVERBS_ATTR_ALLOC_DMABUF_PGOFF  UverbsAttrsAllocDmabufCmdAttrIds = 1
)

// UverbsMethodsDmabuf mirrors enum uverbs_methods_dmabuf.
type UverbsMethodsDmabuf uint32

// Values of UverbsMethodsDmabuf.
const (
	UVERBS_METHOD_DMABUF_ALLOC UverbsMethodsDmabuf = 0
)

// UverbsAttrsRegDmMRCmdAttrIds mirrors enum uverbs_attrs_reg_dm_mr_cmd_attr_ids.
type UverbsAttrsRegDmMRCmdAttrIds uint32

// Values of UverbsAttrsRegDmMRCmdAttrIds.
const (
	UVERBS_ATTR_REG_DM_MR_HANDLE       UverbsAttrsRegDmMRCmdAttrIds = 0
	UVERBS_ATTR_REG_DM_MR_OFFSET       UverbsAttrsRegDmMRCmdAttrIds = 1
	UVERBS_ATTR_REG_DM_MR_LENGTH       UverbsAttrsRegDmMRCmdAttrIds = 2
	UVERBS_ATTR_REG_DM_MR_PD_HANDLE    UverbsAttrsRegDmMRCmdAttrIds = 3
	UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS UverbsAttrsRegDmMRCmdAttrIds = 4
	UVERBS_ATTR_REG_DM_MR_DM_HANDLE    UverbsAttrsRegDmMRCmdAttrIds = 5
	UVERBS_ATTR_REG_DM_MR_RESP_LKEY    UverbsAttrsRegDmMRCmdAttrIds = 6
	UVERBS_ATTR_REG_DM_MR_RESP_RKEY    UverbsAttrsRegDmMRCmdAttrIds = 7
)

// UverbsMethodsMR mirrors enum uverbs_methods_mr.
type UverbsMethodsMR uint32

// Values of UverbsMethodsMR.
const (
	UVERBS_METHOD_DM_MR_REG     UverbsMethodsMR = 0
	UVERBS_METHOD_MR_DESTROY    UverbsMethodsMR = 1
	UVERBS_METHOD_ADVISE_MR     UverbsMethodsMR = 2
	UVERBS_METHOD_QUERY_MR      UverbsMethodsMR = 3
	UVERBS_METHOD_REG_DMABUF_MR UverbsMethodsMR = 4
	UVERBS_METHOD_REG_MR        UverbsMethodsMR = 5
)

// UverbsAttrsMRDestroyIds mirrors enum uverbs_attrs_mr_destroy_ids.
type UverbsAttrsMRDestroyIds uint32

// Values of UverbsAttrsMRDestroyIds.
const (
	UVERBS_ATTR_DESTROY_MR_HANDLE UverbsAttrsMRDestroyIds = 0
)

// UverbsAttrsAdviseMRCmdAttrIds mirrors enum uverbs_attrs_advise_mr_cmd_attr_ids.
type UverbsAttrsAdviseMRCmdAttrIds uint32

// Values of UverbsAttrsAdviseMRCmdAttrIds.
const (
	UVERBS_ATTR_ADVISE_MR_PD_HANDLE UverbsAttrsAdviseMRCmdAttrIds = 0
	UVERBS_ATTR_ADVISE_MR_ADVICE    UverbsAttrsAdviseMRCmdAttrIds = 1
	UVERBS_ATTR_ADVISE_MR_FLAGS     UverbsAttrsAdviseMRCmdAttrIds = 2
	UVERBS_ATTR_ADVISE_MR_SGE_LIST  UverbsAttrsAdviseMRCmdAttrIds = 3
)

// UverbsAttrsQueryMRCmdAttrIds mirrors enum uverbs_attrs_query_mr_cmd_attr_ids.
type UverbsAttrsQueryMRCmdAttrIds uint32

// Values of UverbsAttrsQueryMRCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_MR_HANDLE      UverbsAttrsQueryMRCmdAttrIds = 0
	UVERBS_ATTR_QUERY_MR_RESP_LKEY   UverbsAttrsQueryMRCmdAttrIds = 1
	UVERBS_ATTR_QUERY_MR_RESP_RKEY   UverbsAttrsQueryMRCmdAttrIds = 2
	UVERBS_ATTR_QUERY_MR_RESP_LENGTH UverbsAttrsQueryMRCmdAttrIds = 3
	UVERBS_ATTR_QUERY_MR_RESP_IOVA   UverbsAttrsQueryMRCmdAttrIds = 4
)

// UverbsAttrsRegDmabufMRCmdAttrIds mirrors enum uverbs_attrs_reg_dmabuf_mr_cmd_attr_ids.
type UverbsAttrsRegDmabufMRCmdAttrIds uint32

// Values of UverbsAttrsRegDmabufMRCmdAttrIds.
const (
	UVERBS_ATTR_REG_DMABUF_MR_HANDLE       UverbsAttrsRegDmabufMRCmdAttrIds = 0
	UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE    UverbsAttrsRegDmabufMRCmdAttrIds = 1
	UVERBS_ATTR_REG_DMABUF_MR_OFFSET       UverbsAttrsRegDmabufMRCmdAttrIds = 2
	UVERBS_ATTR_REG_DMABUF_MR_LENGTH       UverbsAttrsRegDmabufMRCmdAttrIds = 3
	UVERBS_ATTR_REG_DMABUF_MR_IOVA         UverbsAttrsRegDmabufMRCmdAttrIds = 4
	UVERBS_ATTR_REG_DMABUF_MR_FD           UverbsAttrsRegDmabufMRCmdAttrIds = 5
	UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS UverbsAttrsRegDmabufMRCmdAttrIds = 6
	UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY    UverbsAttrsRegDmabufMRCmdAttrIds = 7
	UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY    UverbsAttrsRegDmabufMRCmdAttrIds = 8
)

// UverbsAttrsRegMRCmdAttrIds mirrors enum uverbs_attrs_reg_mr_cmd_attr_ids.
type UverbsAttrsRegMRCmdAttrIds uint32

// Values of UverbsAttrsRegMRCmdAttrIds.
const (
	UVERBS_ATTR_REG_MR_HANDLE       UverbsAttrsRegMRCmdAttrIds = 0
	UVERBS_ATTR_REG_MR_PD_HANDLE    UverbsAttrsRegMRCmdAttrIds = 1
	UVERBS_ATTR_REG_MR_DMA_HANDLE   UverbsAttrsRegMRCmdAttrIds = 2
	UVERBS_ATTR_REG_MR_IOVA         UverbsAttrsRegMRCmdAttrIds = 3
	UVERBS_ATTR_REG_MR_ADDR         UverbsAttrsRegMRCmdAttrIds = 4
	UVERBS_ATTR_REG_MR_LENGTH       UverbsAttrsRegMRCmdAttrIds = 5
	UVERBS_ATTR_REG_MR_ACCESS_FLAGS UverbsAttrsRegMRCmdAttrIds = 6
	UVERBS_ATTR_REG_MR_FD           UverbsAttrsRegMRCmdAttrIds = 7
	UVERBS_ATTR_REG_MR_FD_OFFSET    UverbsAttrsRegMRCmdAttrIds = 8
	UVERBS_ATTR_REG_MR_RESP_LKEY    UverbsAttrsRegMRCmdAttrIds = 9
	UVERBS_ATTR_REG_MR_RESP_RKEY    UverbsAttrsRegMRCmdAttrIds = 10
)

// UverbsAttrsCreateCountersCmdAttrIds mirrors enum
// uverbs_attrs_create_counters_cmd_attr_ids.
type UverbsAttrsCreateCountersCmdAttrIds uint32

// Values of UverbsAttrsCreateCountersCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_COUNTERS_HANDLE UverbsAttrsCreateCountersCmdAttrIds = 0
)

// UverbsAttrsDestroyCountersCmdAttrIds mirrors enum
// uverbs_attrs_destroy_counters_cmd_attr_ids.
type UverbsAttrsDestroyCountersCmdAttrIds uint32

// Values of UverbsAttrsDestroyCountersCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_COUNTERS_HANDLE UverbsAttrsDestroyCountersCmdAttrIds = 0
)

// UverbsAttrsReadCountersCmdAttrIds mirrors enum uverbs_attrs_read_counters_cmd_attr_ids.
type UverbsAttrsReadCountersCmdAttrIds uint32

// Values of UverbsAttrsReadCountersCmdAttrIds.
const (
	UVERBS_ATTR_READ_COUNTERS_HANDLE UverbsAttrsReadCountersCmdAttrIds = 0
	UVERBS_ATTR_READ_COUNTERS_BUFF   UverbsAttrsReadCountersCmdAttrIds = 1
	UVERBS_ATTR_READ_COUNTERS_FLAGS  UverbsAttrsReadCountersCmdAttrIds = 2
)

// UverbsMethodsActionsCountersOps mirrors enum uverbs_methods_actions_counters_ops.
type UverbsMethodsActionsCountersOps uint32

// Values of UverbsMethodsActionsCountersOps.
const (
	UVERBS_METHOD_COUNTERS_CREATE  UverbsMethodsActionsCountersOps = 0
	UVERBS_METHOD_COUNTERS_DESTROY UverbsMethodsActionsCountersOps = 1
	UVERBS_METHOD_COUNTERS_READ    UverbsMethodsActionsCountersOps = 2
)

// UverbsAttrsInfoHandlesID mirrors enum uverbs_attrs_info_handles_id.
type UverbsAttrsInfoHandlesID uint32

// Values of UverbsAttrsInfoHandlesID.
const (
	UVERBS_ATTR_INFO_OBJECT_ID     UverbsAttrsInfoHandlesID = 0
	UVERBS_ATTR_INFO_TOTAL_HANDLES UverbsAttrsInfoHandlesID = 1
	UVERBS_ATTR_INFO_HANDLES_LIST  UverbsAttrsInfoHandlesID = 2
)

// UverbsMethodsPD mirrors enum uverbs_methods_pd.
type UverbsMethodsPD uint32

// Values of UverbsMethodsPD.
const (
	UVERBS_METHOD_PD_DESTROY UverbsMethodsPD = 0
)

// UverbsAttrsPDDestroyIds mirrors enum uverbs_attrs_pd_destroy_ids.
type UverbsAttrsPDDestroyIds uint32

// Values of UverbsAttrsPDDestroyIds.
const (
	UVERBS_ATTR_DESTROY_PD_HANDLE UverbsAttrsPDDestroyIds = 0
)

// UverbsMethodsMW mirrors enum uverbs_methods_mw.
type UverbsMethodsMW uint32

// Values of UverbsMethodsMW.
const (
	UVERBS_METHOD_MW_DESTROY UverbsMethodsMW = 0
)

// UverbsAttrsMWDestroyIds mirrors enum uverbs_attrs_mw_destroy_ids.
type UverbsAttrsMWDestroyIds uint32

// Values of UverbsAttrsMWDestroyIds.
const (
	UVERBS_ATTR_DESTROY_MW_HANDLE UverbsAttrsMWDestroyIds = 0
)

// UverbsMethodsXRCD mirrors enum uverbs_methods_xrcd.
type UverbsMethodsXRCD uint32

// Values of UverbsMethodsXRCD.
const (
	UVERBS_METHOD_XRCD_DESTROY UverbsMethodsXRCD = 0
)

// UverbsAttrsXRCDDestroyIds mirrors enum uverbs_attrs_xrcd_destroy_ids.
type UverbsAttrsXRCDDestroyIds uint32

// Values of UverbsAttrsXRCDDestroyIds.
const (
	UVERBS_ATTR_DESTROY_XRCD_HANDLE UverbsAttrsXRCDDestroyIds = 0
)

// UverbsMethodsAH mirrors enum uverbs_methods_ah.
type UverbsMethodsAH uint32

// Values of UverbsMethodsAH.
const (
	UVERBS_METHOD_AH_DESTROY UverbsMethodsAH = 0
)

// UverbsAttrsAHDestroyIds mirrors enum uverbs_attrs_ah_destroy_ids.
type UverbsAttrsAHDestroyIds uint32

// Values of UverbsAttrsAHDestroyIds.
const (
	UVERBS_ATTR_DESTROY_AH_HANDLE UverbsAttrsAHDestroyIds = 0
)

// UverbsMethodsRWQIndTbl mirrors enum uverbs_methods_rwq_ind_tbl.
type UverbsMethodsRWQIndTbl uint32

// Values of UverbsMethodsRWQIndTbl.
const (
	UVERBS_METHOD_RWQ_IND_TBL_DESTROY UverbsMethodsRWQIndTbl = 0
)

// UverbsAttrsRWQIndTblDestroyIds mirrors enum uverbs_attrs_rwq_ind_tbl_destroy_ids.
type UverbsAttrsRWQIndTblDestroyIds uint32

// Values of UverbsAttrsRWQIndTblDestroyIds.
const (
	UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE UverbsAttrsRWQIndTblDestroyIds = 0
)

// UverbsMethodsFlow mirrors enum uverbs_methods_flow.
type UverbsMethodsFlow uint32

// Values of UverbsMethodsFlow.
const (
	UVERBS_METHOD_FLOW_DESTROY UverbsMethodsFlow = 0
)

// UverbsAttrsFlowDestroyIds mirrors enum uverbs_attrs_flow_destroy_ids.
type UverbsAttrsFlowDestroyIds uint32

// Values of UverbsAttrsFlowDestroyIds.
const (
	UVERBS_ATTR_DESTROY_FLOW_HANDLE UverbsAttrsFlowDestroyIds = 0
)

// UverbsMethodAsyncEvent mirrors enum uverbs_method_async_event.
type UverbsMethodAsyncEvent uint32

// Values of UverbsMethodAsyncEvent.
const (
	UVERBS_METHOD_ASYNC_EVENT_ALLOC UverbsMethodAsyncEvent = 0
)

// UverbsAttrsAsyncEventCreate mirrors enum uverbs_attrs_async_event_create.
type UverbsAttrsAsyncEventCreate uint32

// Values of UverbsAttrsAsyncEventCreate.
const (
	UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE UverbsAttrsAsyncEventCreate = 0
)

// UverbsAttrsQueryGIDTableCmdAttrIds mirrors enum
// uverbs_attrs_query_gid_table_cmd_attr_ids.
type UverbsAttrsQueryGIDTableCmdAttrIds uint32

// Values of UverbsAttrsQueryGIDTableCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE       UverbsAttrsQueryGIDTableCmdAttrIds = 0
	UVERBS_ATTR_QUERY_GID_TABLE_FLAGS            UverbsAttrsQueryGIDTableCmdAttrIds = 1
	UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES     UverbsAttrsQueryGIDTableCmdAttrIds = 2
	UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES UverbsAttrsQueryGIDTableCmdAttrIds = 3
)

// UverbsAttrsQueryGIDEntryCmdAttrIds mirrors enum
// uverbs_attrs_query_gid_entry_cmd_attr_ids.
type UverbsAttrsQueryGIDEntryCmdAttrIds uint32

// Values of UverbsAttrsQueryGIDEntryCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_GID_ENTRY_PORT       UverbsAttrsQueryGIDEntryCmdAttrIds = 0
	UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX  UverbsAttrsQueryGIDEntryCmdAttrIds = 1
	UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS      UverbsAttrsQueryGIDEntryCmdAttrIds = 2
	UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY UverbsAttrsQueryGIDEntryCmdAttrIds = 3
)

// UverbsMethodsCompCntr mirrors enum uverbs_methods_comp_cntr.
type UverbsMethodsCompCntr uint32

// Values of UverbsMethodsCompCntr.
const (
	UVERBS_METHOD_COMP_CNTR_CREATE  UverbsMethodsCompCntr = 0
	UVERBS_METHOD_COMP_CNTR_DESTROY UverbsMethodsCompCntr = 1
	UVERBS_METHOD_COMP_CNTR_MODIFY  UverbsMethodsCompCntr = 2
	UVERBS_METHOD_COMP_CNTR_READ    UverbsMethodsCompCntr = 3
)

// UverbsAttrsCreateCompCntrCmdAttrIds mirrors enum
// uverbs_attrs_create_comp_cntr_cmd_attr_ids.
type UverbsAttrsCreateCompCntrCmdAttrIds uint32

// Values of UverbsAttrsCreateCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE UverbsAttrsCreateCompCntrCmdAttrIds = 0
)

// UverbsAttrsDestroyCompCntrCmdAttrIds mirrors enum
// uverbs_attrs_destroy_comp_cntr_cmd_attr_ids.
type UverbsAttrsDestroyCompCntrCmdAttrIds uint32

// Values of UverbsAttrsDestroyCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE UverbsAttrsDestroyCompCntrCmdAttrIds = 0
)

// UverbsAttrsModifyCompCntrCmdAttrIds mirrors enum
// uverbs_attrs_modify_comp_cntr_cmd_attr_ids.
type UverbsAttrsModifyCompCntrCmdAttrIds uint32

// Values of UverbsAttrsModifyCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE UverbsAttrsModifyCompCntrCmdAttrIds = 0
	UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY  UverbsAttrsModifyCompCntrCmdAttrIds = 1
	UVERBS_ATTR_MODIFY_COMP_CNTR_OP     UverbsAttrsModifyCompCntrCmdAttrIds = 2
	UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE  UverbsAttrsModifyCompCntrCmdAttrIds = 3
)

// UverbsAttrsReadCompCntrCmdAttrIds mirrors enum uverbs_attrs_read_comp_cntr_cmd_attr_ids.
type UverbsAttrsReadCompCntrCmdAttrIds uint32

// Values of UverbsAttrsReadCompCntrCmdAttrIds.
const (
	UVERBS_ATTR_READ_COMP_CNTR_HANDLE     UverbsAttrsReadCompCntrCmdAttrIds = 0
	UVERBS_ATTR_READ_COMP_CNTR_ENTRY      UverbsAttrsReadCompCntrCmdAttrIds = 1
	UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE UverbsAttrsReadCompCntrCmdAttrIds = 2
)
