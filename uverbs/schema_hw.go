package uverbs

import "github.com/purerdma/rdma/abi"

// Methods and commands of objects that only hardware has: work queues, flow
// rules, counters, device memory.

var methodWQCreate = method{
	name: "WQ_CREATE", object: uint16(abi.UVERBS_OBJECT_WQ), id: uint16(abi.UVERBS_METHOD_WQ_CREATE), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_PD_HANDLE), name: "PD_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_CQ_HANDLE), name: "CQ_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_USER_HANDLE), name: "USER_HANDLE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_TYPE), name: "TYPE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_MAX_WR), name: "MAX_WR", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_MAX_SGE), name: "MAX_SGE", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_FLAGS), name: "FLAGS", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_EVENT_FD), name: "EVENT_FD", kind: kindFD, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR), name: "RESP_MAX_WR", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE), name: "RESP_MAX_SGE", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM), name: "RESP_WQ_NUM", kind: kindOut, size: 4, opt: true},
	},
}

var methodWQDestroy = method{
	name: "WQ_DESTROY", object: uint16(abi.UVERBS_OBJECT_WQ), id: uint16(abi.UVERBS_METHOD_WQ_DESTROY),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_DESTROY_WQ_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_DESTROY_WQ_RESP), name: "RESP", kind: kindOut, size: 4},
	},
}

var methodRWQIndTblDestroy = method{
	name: "RWQ_IND_TBL_DESTROY", object: uint16(abi.UVERBS_OBJECT_RWQ_IND_TBL), id: uint16(abi.UVERBS_METHOD_RWQ_IND_TBL_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodFlowDestroy = method{
	name: "FLOW_DESTROY", object: uint16(abi.UVERBS_OBJECT_FLOW), id: uint16(abi.UVERBS_METHOD_FLOW_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_FLOW_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodCountersCreate = method{
	name: "COUNTERS_CREATE", object: uint16(abi.UVERBS_OBJECT_COUNTERS), id: uint16(abi.UVERBS_METHOD_COUNTERS_CREATE),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_CREATE_COUNTERS_HANDLE), name: "HANDLE", kind: kindNewObject}},
}

var methodCountersDestroy = method{
	name: "COUNTERS_DESTROY", object: uint16(abi.UVERBS_OBJECT_COUNTERS), id: uint16(abi.UVERBS_METHOD_COUNTERS_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_COUNTERS_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodCountersRead = method{
	name: "COUNTERS_READ", object: uint16(abi.UVERBS_OBJECT_COUNTERS), id: uint16(abi.UVERBS_METHOD_COUNTERS_READ),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_READ_COUNTERS_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_READ_COUNTERS_BUFF), name: "BUFF", kind: kindOut},
		{id: uint16(abi.UVERBS_ATTR_READ_COUNTERS_FLAGS), name: "FLAGS", kind: kindU32, opt: true},
	},
}

var methodQueryCompCntrCaps = method{
	name: "QUERY_COMP_CNTR_CAPS", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_QUERY_COMP_CNTR_CAPS),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_COUNTERS), name: "MAX_COUNTERS", kind: kindOut, size: 4, opt: true},
		{id: uint16(abi.UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_MAX_VALUE), name: "MAX_VALUE", kind: kindOut, size: 8, opt: true},
		{id: uint16(abi.UVERBS_ATTR_QUERY_COMP_CNTR_CAPS_SUPPORTED_QP_ATTACH_OPS), name: "SUPPORTED_QP_ATTACH_OPS", kind: kindOut, size: 4, opt: true},
	},
}

var methodCompCntrCreate = method{
	name: "COMP_CNTR_CREATE", object: uint16(abi.UVERBS_OBJECT_COMP_CNTR), id: uint16(abi.UVERBS_METHOD_COMP_CNTR_CREATE),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_CREATE_COMP_CNTR_HANDLE), name: "HANDLE", kind: kindNewObject}},
}

var methodCompCntrDestroy = method{
	name: "COMP_CNTR_DESTROY", object: uint16(abi.UVERBS_OBJECT_COMP_CNTR), id: uint16(abi.UVERBS_METHOD_COMP_CNTR_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_COMP_CNTR_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodCompCntrModify = method{
	name: "COMP_CNTR_MODIFY", object: uint16(abi.UVERBS_OBJECT_COMP_CNTR), id: uint16(abi.UVERBS_METHOD_COMP_CNTR_MODIFY),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_ENTRY), name: "ENTRY", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_OP), name: "OP", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_MODIFY_COMP_CNTR_VALUE), name: "VALUE", kind: kindU64},
	},
}

var methodCompCntrRead = method{
	name: "COMP_CNTR_READ", object: uint16(abi.UVERBS_OBJECT_COMP_CNTR), id: uint16(abi.UVERBS_METHOD_COMP_CNTR_READ),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_READ_COMP_CNTR_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_READ_COMP_CNTR_ENTRY), name: "ENTRY", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_READ_COMP_CNTR_RESP_VALUE), name: "RESP_VALUE", kind: kindOut, size: 8},
	},
}

var methodQPAttachCompCntr = method{
	name: "QP_ATTACH_COMP_CNTR", object: uint16(abi.UVERBS_OBJECT_QP), id: uint16(abi.UVERBS_METHOD_QP_ATTACH_COMP_CNTR),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QP_ATTACH_COMP_CNTR_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_QP_ATTACH_COMP_CNTR_CNTR_HANDLE), name: "CNTR_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_QP_ATTACH_COMP_CNTR_OP_MASK), name: "OP_MASK", kind: kindU32},
	},
}

var methodDMAlloc = method{
	name: "DM_ALLOC", object: uint16(abi.UVERBS_OBJECT_DM), id: uint16(abi.UVERBS_METHOD_DM_ALLOC),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DM_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DM_LENGTH), name: "LENGTH", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_ALLOC_DM_ALIGNMENT), name: "ALIGNMENT", kind: kindU32},
	},
}

var methodDMFree = method{
	name: "DM_FREE", object: uint16(abi.UVERBS_OBJECT_DM), id: uint16(abi.UVERBS_METHOD_DM_FREE),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_FREE_DM_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodDMMRReg = method{
	name: "DM_MR_REG", object: uint16(abi.UVERBS_OBJECT_MR), id: uint16(abi.UVERBS_METHOD_DM_MR_REG),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_OFFSET), name: "OFFSET", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_LENGTH), name: "LENGTH", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_PD_HANDLE), name: "PD_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS), name: "ACCESS_FLAGS", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_DM_HANDLE), name: "DM_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_RESP_LKEY), name: "RESP_LKEY", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_REG_DM_MR_RESP_RKEY), name: "RESP_RKEY", kind: kindOut, size: 4},
	},
}

var (
	cmdExCreateWQ = writeCmd{name: "CREATE_WQ", num: abi.IB_USER_VERBS_EX_CMD_CREATE_WQ, ex: true,
		in: size[abi.IBUverbsExCreateWQ](), out: size[abi.IBUverbsExCreateWQResp]()}
	cmdExModifyWQ = writeCmd{name: "MODIFY_WQ", num: abi.IB_USER_VERBS_EX_CMD_MODIFY_WQ, ex: true,
		in: size[abi.IBUverbsExModifyWQ]()}
	cmdExDestroyWQ = writeCmd{name: "DESTROY_WQ", num: abi.IB_USER_VERBS_EX_CMD_DESTROY_WQ, ex: true,
		in: size[abi.IBUverbsExDestroyWQ](), out: size[abi.IBUverbsExDestroyWQResp]()}
	cmdExCreateRWQIndTbl = writeCmd{name: "CREATE_RWQ_IND_TBL", num: abi.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, ex: true,
		in: size[abi.IBUverbsExCreateRWQIndTable](), out: size[abi.IBUverbsExCreateRWQIndTableResp]()}
	cmdExDestroyRWQIndTbl = writeCmd{name: "DESTROY_RWQ_IND_TBL", num: abi.IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, ex: true,
		in: size[abi.IBUverbsExDestroyRWQIndTable]()}
	cmdExCreateFlow = writeCmd{name: "CREATE_FLOW", num: abi.IB_USER_VERBS_EX_CMD_CREATE_FLOW, ex: true,
		in: size[abi.IBUverbsCreateFlow](), out: size[abi.IBUverbsCreateFlowResp]()}
	cmdExDestroyFlow = writeCmd{name: "DESTROY_FLOW", num: abi.IB_USER_VERBS_EX_CMD_DESTROY_FLOW, ex: true,
		in: size[abi.IBUverbsDestroyFlow]()}
)
