package uverbs

import "github.com/purerdma/rdma/abi"

// This file is the one place that says what each command looks like. Native
// methods are described attribute by attribute, as the kernel's
// DECLARE_UVERBS_NAMED_METHOD does; write commands by the sizes of their core
// structs, as DECLARE_UVERBS_WRITE does.

// attrKind is how an attribute's value travels (kernel: enum uverbs_attr_type).
type attrKind uint8

const (
	kindObject    attrKind = iota // handle of an existing object
	kindNewObject                 // the kernel puts the new object's handle here
	kindFD                        // descriptor of an existing object
	kindNewFD                     // the kernel puts the new descriptor here
	kindU32                       // 4 bytes in the attribute itself
	kindU64                       // 8 bytes in the attribute itself (also UVERBS_ATTR_CONST_IN)
	kindIn                        // bytes; in the attribute itself when at most 8
	kindOut                       // the kernel writes to the buffer
	kindChoice                    // number of a choice without data (UVERBS_ATTR_ENUM_IN)
)

// attrSpec describes one attribute of a method. size is that of a kindIn or
// kindOut value, 0 where it varies.
type attrSpec struct {
	id   uint16
	name string
	kind attrKind
	size int
	opt  bool
}

// method describes one native method.
type method struct {
	name       string
	object, id uint16
	uhw        bool // takes the driver's own bytes (UVERBS_ATTR_UHW)
	attrs      []attrSpec
}

func (m *method) spec(id uint16) *attrSpec {
	for i := range m.attrs {
		if m.attrs[i].id == id {
			return &m.attrs[i]
		}
	}
	return nil
}

// slots is how many attributes a call of the method can have.
func (m *method) slots() int {
	if m.uhw {
		return len(m.attrs) + 2
	}
	return len(m.attrs)
}

// The driver's own bytes, in each method with uhw.
var (
	specUHWIn  = attrSpec{id: abi.UVERBS_ATTR_UHW_IN, name: "UHW_IN", kind: kindIn, opt: true}
	specUHWOut = attrSpec{id: abi.UVERBS_ATTR_UHW_OUT, name: "UHW_OUT", kind: kindOut, opt: true}
)

var methodInvokeWrite = method{
	name: "INVOKE_WRITE", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_INVOKE_WRITE), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_WRITE_CMD), name: "WRITE_CMD", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CORE_IN), name: "CORE_IN", kind: kindIn, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CORE_OUT), name: "CORE_OUT", kind: kindOut, opt: true},
	},
}

var methodGetContext = method{
	name: "GET_CONTEXT", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_GET_CONTEXT), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS), name: "NUM_COMP_VECTORS", kind: kindOut, size: 4, opt: true},
		{id: uint16(abi.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT), name: "CORE_SUPPORT", kind: kindOut, size: 8, opt: true},
	},
}

var methodQueryContext = method{
	name: "QUERY_CONTEXT", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_QUERY_CONTEXT),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS), name: "NUM_COMP_VECTORS", kind: kindOut, size: 4, opt: true},
		{id: uint16(abi.UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT), name: "CORE_SUPPORT", kind: kindOut, size: 8, opt: true},
	},
}

var methodAsyncEventAlloc = method{
	name: "ASYNC_EVENT_ALLOC", object: uint16(abi.UVERBS_OBJECT_ASYNC_EVENT), id: uint16(abi.UVERBS_METHOD_ASYNC_EVENT_ALLOC),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE), name: "FD_HANDLE", kind: kindNewFD},
	},
}

var methodQueryPort = method{
	name: "QUERY_PORT", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_QUERY_PORT),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_PORT_PORT_NUM), name: "PORT_NUM", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_QUERY_PORT_RESP), name: "RESP", kind: kindOut},
	},
}

var methodQueryPortSpeed = method{
	name: "QUERY_PORT_SPEED", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_QUERY_PORT_SPEED),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM), name: "PORT_NUM", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_QUERY_PORT_SPEED_RESP), name: "RESP", kind: kindOut, size: 8},
	},
}

var methodQueryGIDTable = method{
	name: "QUERY_GID_TABLE", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_QUERY_GID_TABLE),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE), name: "ENTRY_SIZE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_FLAGS), name: "FLAGS", kind: kindU32, opt: true},
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES), name: "RESP_ENTRIES", kind: kindOut},
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES), name: "RESP_NUM_ENTRIES", kind: kindOut, size: 8},
	},
}

var methodQueryGIDEntry = method{
	name: "QUERY_GID_ENTRY", object: uint16(abi.UVERBS_OBJECT_DEVICE), id: uint16(abi.UVERBS_METHOD_QUERY_GID_ENTRY),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_PORT), name: "PORT", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX), name: "GID_INDEX", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS), name: "FLAGS", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY), name: "RESP_ENTRY", kind: kindOut, size: 32},
	},
}

var methodPDDestroy = method{
	name: "PD_DESTROY", object: uint16(abi.UVERBS_OBJECT_PD), id: uint16(abi.UVERBS_METHOD_PD_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_PD_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodAHDestroy = method{
	name: "AH_DESTROY", object: uint16(abi.UVERBS_OBJECT_AH), id: uint16(abi.UVERBS_METHOD_AH_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_AH_HANDLE), name: "HANDLE", kind: kindObject}},
}

var methodCQCreate = method{
	name: "CQ_CREATE", object: uint16(abi.UVERBS_OBJECT_CQ), id: uint16(abi.UVERBS_METHOD_CQ_CREATE), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_CQE), name: "CQE", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_USER_HANDLE), name: "USER_HANDLE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL), name: "COMP_CHANNEL", kind: kindFD, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR), name: "COMP_VECTOR", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_FLAGS), name: "FLAGS", kind: kindU32, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_EVENT_FD), name: "EVENT_FD", kind: kindFD, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_CQ_RESP_CQE), name: "RESP_CQE", kind: kindOut, size: 4},
	},
}

var methodCQDestroy = method{
	name: "CQ_DESTROY", object: uint16(abi.UVERBS_OBJECT_CQ), id: uint16(abi.UVERBS_METHOD_CQ_DESTROY),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_DESTROY_CQ_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_DESTROY_CQ_RESP), name: "RESP", kind: kindOut, size: 8},
	},
}

var methodQPCreate = method{
	name: "QP_CREATE", object: uint16(abi.UVERBS_OBJECT_QP), id: uint16(abi.UVERBS_METHOD_QP_CREATE), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE), name: "XRCD_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_PD_HANDLE), name: "PD_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE), name: "SEND_CQ_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE), name: "RECV_CQ_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE), name: "SRQ_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE), name: "IND_TABLE_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_USER_HANDLE), name: "USER_HANDLE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_CAP), name: "CAP", kind: kindIn, size: 20},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_TYPE), name: "TYPE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_FLAGS), name: "FLAGS", kind: kindU32, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_SOURCE_QPN), name: "SOURCE_QPN", kind: kindU32, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_EVENT_FD), name: "EVENT_FD", kind: kindFD, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_RESP_CAP), name: "RESP_CAP", kind: kindOut, size: 20},
		{id: uint16(abi.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM), name: "RESP_QP_NUM", kind: kindOut, size: 4},
	},
}

var methodQPDestroy = method{
	name: "QP_DESTROY", object: uint16(abi.UVERBS_OBJECT_QP), id: uint16(abi.UVERBS_METHOD_QP_DESTROY),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_DESTROY_QP_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_DESTROY_QP_RESP), name: "RESP", kind: kindOut, size: 4},
	},
}

var methodSRQCreate = method{
	name: "SRQ_CREATE", object: uint16(abi.UVERBS_OBJECT_SRQ), id: uint16(abi.UVERBS_METHOD_SRQ_CREATE), uhw: true,
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_HANDLE), name: "HANDLE", kind: kindNewObject},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE), name: "PD_HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE), name: "XRCD_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE), name: "CQ_HANDLE", kind: kindObject, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE), name: "USER_HANDLE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_MAX_WR), name: "MAX_WR", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_MAX_SGE), name: "MAX_SGE", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_LIMIT), name: "LIMIT", kind: kindU32},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_TYPE), name: "TYPE", kind: kindU64},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_EVENT_FD), name: "EVENT_FD", kind: kindFD, opt: true},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR), name: "RESP_MAX_WR", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE), name: "RESP_MAX_SGE", kind: kindOut, size: 4},
		{id: uint16(abi.UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM), name: "RESP_SRQ_NUM", kind: kindOut, size: 4, opt: true},
	},
}

var methodSRQDestroy = method{
	name: "SRQ_DESTROY", object: uint16(abi.UVERBS_OBJECT_SRQ), id: uint16(abi.UVERBS_METHOD_SRQ_DESTROY),
	attrs: []attrSpec{
		{id: uint16(abi.UVERBS_ATTR_DESTROY_SRQ_HANDLE), name: "HANDLE", kind: kindObject},
		{id: uint16(abi.UVERBS_ATTR_DESTROY_SRQ_RESP), name: "RESP", kind: kindOut, size: 4},
	},
}

var methodXRCDDestroy = method{
	name: "XRCD_DESTROY", object: uint16(abi.UVERBS_OBJECT_XRCD), id: uint16(abi.UVERBS_METHOD_XRCD_DESTROY),
	attrs: []attrSpec{{id: uint16(abi.UVERBS_ATTR_DESTROY_XRCD_HANDLE), name: "HANDLE", kind: kindObject}},
}

// methods lists all native methods in use, for tests.
var methods = []*method{
	&methodInvokeWrite, &methodGetContext, &methodQueryContext, &methodAsyncEventAlloc, &methodQueryPort, &methodQueryPortSpeed,
	&methodQueryGIDTable, &methodQueryGIDEntry, &methodPDDestroy, &methodAHDestroy, &methodMRDestroy,
	&methodCQCreate, &methodCQDestroy, &methodQPCreate, &methodQPDestroy,
	&methodSRQCreate, &methodSRQDestroy, &methodXRCDDestroy, &methodMWDestroy,
	&methodWQCreate, &methodWQDestroy, &methodRWQIndTblDestroy, &methodFlowDestroy,
	&methodCountersCreate, &methodCountersDestroy, &methodCountersRead,
	&methodQueryCompCntrCaps, &methodCompCntrCreate, &methodCompCntrDestroy, &methodCompCntrModify, &methodCompCntrRead, &methodQPAttachCompCntr,
	&methodDMAlloc, &methodDMFree, &methodDMMRReg,
	&methodRegMR, &methodDMAHAlloc, &methodDMAHFree, &methodRegDMABufMR, &methodAdviseMR, &methodQueryMR,
}
