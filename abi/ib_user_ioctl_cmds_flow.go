// This file mirrors the methods and attributes of flows, flow actions and counters of
// include/uapi/rdma/ib_user_ioctl_cmds.h.

package abi

// UverbsAttrsCreateFlowActionEsp is enum uverbs_attrs_create_flow_action_esp, the
// attributes of UVERBS_METHOD_FLOW_ACTION_ESP_CREATE.
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

// UverbsAttrsModifyFlowActionEsp is enum uverbs_attrs_modify_flow_action_esp, the
// attributes of UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY. The others are those of the create
// method.
type UverbsAttrsModifyFlowActionEsp uint32

// Values of UverbsAttrsModifyFlowActionEsp.
const (
	UVERBS_ATTR_MODIFY_FLOW_ACTION_ESP_HANDLE UverbsAttrsModifyFlowActionEsp = 0
)

// UverbsAttrsDestroyFlowActionEsp is enum uverbs_attrs_destroy_flow_action_esp, the
// attributes of UVERBS_METHOD_FLOW_ACTION_DESTROY.
type UverbsAttrsDestroyFlowActionEsp uint32

// Values of UverbsAttrsDestroyFlowActionEsp.
const (
	UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE UverbsAttrsDestroyFlowActionEsp = 0
)

// UverbsMethodsActionsFlowActionOps is enum uverbs_methods_actions_flow_action_ops, the
// methods of UVERBS_OBJECT_FLOW_ACTION, the value of IBUverbsIoctlHdr.MethodID.
type UverbsMethodsActionsFlowActionOps uint32

// Values of UverbsMethodsActionsFlowActionOps.
const (
	UVERBS_METHOD_FLOW_ACTION_ESP_CREATE UverbsMethodsActionsFlowActionOps = 0
	UVERBS_METHOD_FLOW_ACTION_DESTROY    UverbsMethodsActionsFlowActionOps = 1
	UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY UverbsMethodsActionsFlowActionOps = 2
)

// UverbsAttrsCreateCountersCmdAttrIds is enum uverbs_attrs_create_counters_cmd_attr_ids,
// the attributes of UVERBS_METHOD_COUNTERS_CREATE.
type UverbsAttrsCreateCountersCmdAttrIds uint32

// Values of UverbsAttrsCreateCountersCmdAttrIds.
const (
	UVERBS_ATTR_CREATE_COUNTERS_HANDLE UverbsAttrsCreateCountersCmdAttrIds = 0
)

// UverbsAttrsDestroyCountersCmdAttrIds is enum uverbs_attrs_destroy_counters_cmd_attr_ids,
// the attributes of UVERBS_METHOD_COUNTERS_DESTROY.
type UverbsAttrsDestroyCountersCmdAttrIds uint32

// Values of UverbsAttrsDestroyCountersCmdAttrIds.
const (
	UVERBS_ATTR_DESTROY_COUNTERS_HANDLE UverbsAttrsDestroyCountersCmdAttrIds = 0
)

// UverbsAttrsReadCountersCmdAttrIds is enum uverbs_attrs_read_counters_cmd_attr_ids, the
// attributes of UVERBS_METHOD_COUNTERS_READ.
type UverbsAttrsReadCountersCmdAttrIds uint32

// Values of UverbsAttrsReadCountersCmdAttrIds.
const (
	UVERBS_ATTR_READ_COUNTERS_HANDLE UverbsAttrsReadCountersCmdAttrIds = 0
	UVERBS_ATTR_READ_COUNTERS_BUFF   UverbsAttrsReadCountersCmdAttrIds = 1
	UVERBS_ATTR_READ_COUNTERS_FLAGS  UverbsAttrsReadCountersCmdAttrIds = 2
)

// UverbsMethodsActionsCountersOps is enum uverbs_methods_actions_counters_ops, the methods
// of UVERBS_OBJECT_COUNTERS, the value of IBUverbsIoctlHdr.MethodID.
type UverbsMethodsActionsCountersOps uint32

// Values of UverbsMethodsActionsCountersOps.
const (
	UVERBS_METHOD_COUNTERS_CREATE  UverbsMethodsActionsCountersOps = 0
	UVERBS_METHOD_COUNTERS_DESTROY UverbsMethodsActionsCountersOps = 1
	UVERBS_METHOD_COUNTERS_READ    UverbsMethodsActionsCountersOps = 2
)

// UverbsMethodsFlow is enum uverbs_methods_flow, the methods of UVERBS_OBJECT_FLOW, the
// value of IBUverbsIoctlHdr.MethodID.
type UverbsMethodsFlow uint32

// Values of UverbsMethodsFlow.
const (
	UVERBS_METHOD_FLOW_DESTROY UverbsMethodsFlow = 0
)

// UverbsAttrsFlowDestroyIds is enum uverbs_attrs_flow_destroy_ids, the attributes of
// UVERBS_METHOD_FLOW_DESTROY.
type UverbsAttrsFlowDestroyIds uint32

// Values of UverbsAttrsFlowDestroyIds.
const (
	UVERBS_ATTR_DESTROY_FLOW_HANDLE UverbsAttrsFlowDestroyIds = 0
)
