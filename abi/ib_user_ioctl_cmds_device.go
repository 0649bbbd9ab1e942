// This file mirrors the methods and attributes of UVERBS_OBJECT_DEVICE and
// UVERBS_OBJECT_ASYNC_EVENT of include/uapi/rdma/ib_user_ioctl_cmds.h.

package abi

// UverbsMethodsDevice is enum uverbs_methods_device, the methods of UVERBS_OBJECT_DEVICE,
// the value of IBUverbsIoctlHdr.MethodID. QUERY_PORT_SPEED and QUERY_COMP_CNTR_CAPS exist
// in Linux 7.3, not in 6.12.
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

// UverbsAttrsInvokeWriteCmdAttrIds is enum uverbs_attrs_invoke_write_cmd_attr_ids, the
// attributes of UVERBS_METHOD_INVOKE_WRITE. It carries a write command through the ioctl:
// WRITE_CMD is the command number, CORE_IN and CORE_OUT its structs without headers.
type UverbsAttrsInvokeWriteCmdAttrIds uint32

// Values of UverbsAttrsInvokeWriteCmdAttrIds.
const (
	UVERBS_ATTR_CORE_IN   UverbsAttrsInvokeWriteCmdAttrIds = 0
	UVERBS_ATTR_CORE_OUT  UverbsAttrsInvokeWriteCmdAttrIds = 1
	UVERBS_ATTR_WRITE_CMD UverbsAttrsInvokeWriteCmdAttrIds = 2
)

// UverbsAttrsQueryPortCmdAttrIds is enum uverbs_attrs_query_port_cmd_attr_ids, the
// attributes of UVERBS_METHOD_QUERY_PORT. RESP is an IBUverbsQueryPortRespEx.
type UverbsAttrsQueryPortCmdAttrIds uint32

// Values of UverbsAttrsQueryPortCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_PORT_PORT_NUM UverbsAttrsQueryPortCmdAttrIds = 0
	UVERBS_ATTR_QUERY_PORT_RESP     UverbsAttrsQueryPortCmdAttrIds = 1
)

// UverbsAttrsQueryPortSpeedCmdAttrIds is enum uverbs_attrs_query_port_speed_cmd_attr_ids,
// the attributes of UVERBS_METHOD_QUERY_PORT_SPEED. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsQueryPortSpeedCmdAttrIds uint32

// Values of UverbsAttrsQueryPortSpeedCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM UverbsAttrsQueryPortSpeedCmdAttrIds = 0
	UVERBS_ATTR_QUERY_PORT_SPEED_RESP     UverbsAttrsQueryPortSpeedCmdAttrIds = 1
)

// UverbsAttrsQueryCompCntrCapsAttrIds is enum uverbs_attrs_query_comp_cntr_caps_attr_ids,
// the attributes of UVERBS_METHOD_QUERY_COMP_CNTR_CAPS. Linux 7.3 has it, 6.12 has not.
type UverbsAttrsQueryCompCntrCapsAttrIds uint32

// Values of UverbsAttrsQueryCompCntrCapsAttrIds.
const (
	UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS            UverbsAttrsQueryCompCntrCapsAttrIds = 0
	UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE               UverbsAttrsQueryCompCntrCapsAttrIds = 1
	UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS UverbsAttrsQueryCompCntrCapsAttrIds = 2
)

// UverbsAttrsGetContextAttrIds is enum uverbs_attrs_get_context_attr_ids, the attributes
// of UVERBS_METHOD_GET_CONTEXT. CORE_SUPPORT is an IBUverbsCoreSupport. FD_ARR exists in
// Linux 7.3, not in 6.12.
type UverbsAttrsGetContextAttrIds uint32

// Values of UverbsAttrsGetContextAttrIds.
const (
	UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS UverbsAttrsGetContextAttrIds = 0
	UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT     UverbsAttrsGetContextAttrIds = 1
	UVERBS_ATTR_GET_CONTEXT_FD_ARR           UverbsAttrsGetContextAttrIds = 2
)

// UverbsAttrsQueryContextAttrIds is enum uverbs_attrs_query_context_attr_ids, the
// attributes of UVERBS_METHOD_QUERY_CONTEXT. CORE_SUPPORT is an IBUverbsCoreSupport.
type UverbsAttrsQueryContextAttrIds uint32

// Values of UverbsAttrsQueryContextAttrIds.
const (
	UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS UverbsAttrsQueryContextAttrIds = 0
	UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT     UverbsAttrsQueryContextAttrIds = 1
)

// UverbsAttrsInfoHandlesID is enum uverbs_attrs_info_handles_id, the attributes of
// UVERBS_METHOD_INFO_HANDLES. It lists the handles of one object type.
type UverbsAttrsInfoHandlesID uint32

// Values of UverbsAttrsInfoHandlesID.
const (
	UVERBS_ATTR_INFO_OBJECT_ID     UverbsAttrsInfoHandlesID = 0
	UVERBS_ATTR_INFO_TOTAL_HANDLES UverbsAttrsInfoHandlesID = 1
	UVERBS_ATTR_INFO_HANDLES_LIST  UverbsAttrsInfoHandlesID = 2
)

// UverbsMethodAsyncEvent is enum uverbs_method_async_event, the methods of
// UVERBS_OBJECT_ASYNC_EVENT, the value of IBUverbsIoctlHdr.MethodID.
type UverbsMethodAsyncEvent uint32

// Values of UverbsMethodAsyncEvent.
const (
	UVERBS_METHOD_ASYNC_EVENT_ALLOC UverbsMethodAsyncEvent = 0
)

// UverbsAttrsAsyncEventCreate is enum uverbs_attrs_async_event_create, the attributes of
// UVERBS_METHOD_ASYNC_EVENT_ALLOC.
type UverbsAttrsAsyncEventCreate uint32

// Values of UverbsAttrsAsyncEventCreate.
const (
	UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE UverbsAttrsAsyncEventCreate = 0
)

// UverbsAttrsQueryGIDTableCmdAttrIds is enum uverbs_attrs_query_gid_table_cmd_attr_ids,
// the attributes of UVERBS_METHOD_QUERY_GID_TABLE. RESP_ENTRIES is an array of
// IBUverbsGIDEntry.
type UverbsAttrsQueryGIDTableCmdAttrIds uint32

// Values of UverbsAttrsQueryGIDTableCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE       UverbsAttrsQueryGIDTableCmdAttrIds = 0
	UVERBS_ATTR_QUERY_GID_TABLE_FLAGS            UverbsAttrsQueryGIDTableCmdAttrIds = 1
	UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES     UverbsAttrsQueryGIDTableCmdAttrIds = 2
	UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES UverbsAttrsQueryGIDTableCmdAttrIds = 3
)

// UverbsAttrsQueryGIDEntryCmdAttrIds is enum uverbs_attrs_query_gid_entry_cmd_attr_ids,
// the attributes of UVERBS_METHOD_QUERY_GID_ENTRY. RESP_ENTRY is an IBUverbsGIDEntry.
type UverbsAttrsQueryGIDEntryCmdAttrIds uint32

// Values of UverbsAttrsQueryGIDEntryCmdAttrIds.
const (
	UVERBS_ATTR_QUERY_GID_ENTRY_PORT       UverbsAttrsQueryGIDEntryCmdAttrIds = 0
	UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX  UverbsAttrsQueryGIDEntryCmdAttrIds = 1
	UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS      UverbsAttrsQueryGIDEntryCmdAttrIds = 2
	UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY UverbsAttrsQueryGIDEntryCmdAttrIds = 3
)
