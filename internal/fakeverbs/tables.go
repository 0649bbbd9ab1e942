package fakeverbs

import (
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

type methodKey struct{ object, method uint16 }

// attrCheck is what the kernel demands of an attribute.
type attrCheck struct {
	handle    bool // IDR or FD: no length
	min       int
	exact     bool
	mandatory bool
	choice    bool // ENUM_IN without data
}

type nativeMethod struct {
	name  string
	attrs map[uint16]attrCheck
	run   func(*Kernel, *request) error
}

type writeCommand struct {
	name    string
	in, out int
	run     func(*Kernel, *request) error
}

func sizeOf[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

var (
	handleAttr  = attrCheck{handle: true, mandatory: true}
	optHandle   = attrCheck{handle: true}
	u32Attr     = attrCheck{min: 4, exact: true, mandatory: true}
	u64Attr     = attrCheck{min: 8, exact: true, mandatory: true}
	flagsAttr   = attrCheck{min: 4}
	bytesAttr   = attrCheck{}
	constAttr   = u64Attr
	minimumAttr = func(n int) attrCheck { return attrCheck{min: n, mandatory: true} }
)

// The declarations of the kernel's uverbs_std_types_*.c, as far as 5.10 has
// them.
var nativeMethods map[methodKey]*nativeMethod

// The declarations of uverbs_cmd.c.
var writeCommands map[uint32]*writeCommand

func init() {
	nativeTable()
	writeTable()
	memoryTables()
	hardwareTables()
}

func nativeTable() {
	device, pd, mr := uint16(abi.UVERBS_OBJECT_DEVICE), uint16(abi.UVERBS_OBJECT_PD), uint16(abi.UVERBS_OBJECT_MR)
	cqObj, qpObj := uint16(abi.UVERBS_OBJECT_CQ), uint16(abi.UVERBS_OBJECT_QP)
	async, ahObj := uint16(abi.UVERBS_OBJECT_ASYNC_EVENT), uint16(abi.UVERBS_OBJECT_AH)
	nativeMethods = map[methodKey]*nativeMethod{
		{device, 0}: {name: "INVOKE_WRITE", attrs: map[uint16]attrCheck{
			0: bytesAttr, 1: bytesAttr, 2: constAttr, 4096: bytesAttr, 4097: bytesAttr,
		}},
		{device, 2}: {name: "QUERY_PORT", run: (*Kernel).queryPort, attrs: map[uint16]attrCheck{0: constAttr, 1: minimumAttr(40)}},
		{device, 7}: {name: "QUERY_PORT_SPEED", run: (*Kernel).queryPortSpeed, attrs: map[uint16]attrCheck{0: constAttr, 1: u64Attr}},
		{device, 3}: {name: "GET_CONTEXT", run: (*Kernel).getContext, attrs: map[uint16]attrCheck{
			0: {min: 4, exact: true}, 1: {min: 8, exact: true}, 4096: bytesAttr, 4097: bytesAttr,
		}},
		{device, 4}: {name: "QUERY_CONTEXT", run: (*Kernel).queryContext, attrs: map[uint16]attrCheck{
			0: {min: 4, exact: true}, 1: {min: 8, exact: true},
		}},
		{device, 5}: {name: "QUERY_GID_TABLE", run: (*Kernel).queryGIDTable, attrs: map[uint16]attrCheck{
			0: constAttr, 1: flagsAttr, 2: minimumAttr(0), 3: u64Attr,
		}},
		{device, 6}: {name: "QUERY_GID_ENTRY", run: (*Kernel).queryGIDEntry, attrs: map[uint16]attrCheck{
			0: constAttr, 1: constAttr, 2: {min: 4, mandatory: true}, 3: minimumAttr(32),
		}},
		{async, 0}: {name: "ASYNC_EVENT_ALLOC", run: (*Kernel).allocAsync, attrs: map[uint16]attrCheck{0: handleAttr}},
		{pd, 0}:    {name: "PD_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr}},
		{ahObj, 0}: {name: "AH_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr}},
		{mr, 1}:    {name: "MR_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr}},
		{cqObj, 0}: {name: "CQ_CREATE", run: (*Kernel).createCQNative, attrs: map[uint16]attrCheck{
			0: handleAttr, 1: u32Attr, 2: u64Attr, 3: optHandle, 4: u32Attr, 5: flagsAttr, 6: u32Attr, 7: optHandle,
			4096: bytesAttr, 4097: bytesAttr,
		}},
		{cqObj, 1}: {name: "CQ_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr, 1: u64Attr}},
		{qpObj, 0}: {name: "QP_CREATE", run: (*Kernel).createQPNative, attrs: map[uint16]attrCheck{
			0: handleAttr, 1: optHandle, 2: optHandle, 3: optHandle, 4: optHandle, 5: optHandle, 6: optHandle,
			7: u64Attr, 8: minimumAttr(20), 9: constAttr, 10: flagsAttr, 11: flagsAttr, 12: optHandle,
			13: minimumAttr(20), 14: u32Attr, 4096: bytesAttr, 4097: bytesAttr,
		}},
		{qpObj, 1}: {name: "QP_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr, 1: u32Attr}},
	}
	srqObj := uint16(abi.UVERBS_OBJECT_SRQ)
	nativeMethods[methodKey{srqObj, 0}] = &nativeMethod{name: "SRQ_CREATE", run: (*Kernel).createSRQNative, attrs: map[uint16]attrCheck{
		0: handleAttr, 1: handleAttr, 2: optHandle, 3: optHandle, 4: u64Attr, 5: u32Attr, 6: u32Attr, 7: u32Attr, 8: {min: 4, exact: true},
		9: constAttr, 10: optHandle, 11: u32Attr, 12: u32Attr, 13: {min: 4, exact: true}, 4096: bytesAttr, 4097: bytesAttr,
	}}
	nativeMethods[methodKey{srqObj, 1}] = &nativeMethod{name: "SRQ_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr, 1: u32Attr}}
	nativeMethods[methodKey{uint16(abi.UVERBS_OBJECT_XRCD), 0}] = &nativeMethod{name: "XRCD_DESTROY", run: (*Kernel).destroyNative, attrs: map[uint16]attrCheck{0: handleAttr}}
}

func writeTable() {
	const ex = abi.IB_USER_VERBS_CMD_FLAG_EXTENDED
	writeCommands = map[uint32]*writeCommand{
		0:       {"GET_CONTEXT", sizeOf[abi.IBUverbsGetContext](), sizeOf[abi.IBUverbsGetContextResp](), (*Kernel).getContext},
		1:       {"QUERY_DEVICE", sizeOf[abi.IBUverbsQueryDevice](), sizeOf[abi.IBUverbsQueryDeviceResp](), (*Kernel).queryDevice},
		2:       {"QUERY_PORT", sizeOf[abi.IBUverbsQueryPort](), sizeOf[abi.IBUverbsQueryPortResp](), (*Kernel).queryPort},
		3:       {"ALLOC_PD", sizeOf[abi.IBUverbsAllocPD](), sizeOf[abi.IBUverbsAllocPDResp](), (*Kernel).allocPD},
		4:       {"DEALLOC_PD", 4, 0, (*Kernel).destroyByHandle},
		5:       {"CREATE_AH", sizeOf[abi.IBUverbsCreateAH](), sizeOf[abi.IBUverbsCreateAHResp](), (*Kernel).createAH},
		8:       {"DESTROY_AH", 4, 0, (*Kernel).destroyByHandle},
		9:       {"REG_MR", sizeOf[abi.IBUverbsRegMR](), sizeOf[abi.IBUverbsRegMRResp](), (*Kernel).regMR},
		13:      {"DEREG_MR", 4, 0, (*Kernel).destroyByHandle},
		17:      {"CREATE_COMP_CHANNEL", 8, 4, (*Kernel).createChannel},
		18:      {"CREATE_CQ", sizeOf[abi.IBUverbsCreateCQ](), sizeOf[abi.IBUverbsCreateCQResp](), (*Kernel).createCQWrite},
		19:      {"RESIZE_CQ", 16, 8, (*Kernel).resizeCQ},
		20:      {"DESTROY_CQ", 16, 8, (*Kernel).destroyWithAnswer},
		23:      {"REQ_NOTIFY_CQ", 8, 0, (*Kernel).reqNotify},
		24:      {"CREATE_QP", sizeOf[abi.IBUverbsCreateQP](), sizeOf[abi.IBUverbsCreateQPResp](), (*Kernel).createQPWrite},
		25:      {"QUERY_QP", sizeOf[abi.IBUverbsQueryQP](), sizeOf[abi.IBUverbsQueryQPResp](), (*Kernel).queryQP},
		26:      {"MODIFY_QP", sizeOf[abi.IBUverbsModifyQP](), 0, (*Kernel).modifyQP},
		27:      {"DESTROY_QP", 16, 4, (*Kernel).destroyWithAnswer},
		30:      {"ATTACH_MCAST", 24, 0, (*Kernel).attachMcast},
		31:      {"DETACH_MCAST", 24, 0, (*Kernel).detachMcast},
		32:      {"CREATE_SRQ", sizeOf[abi.IBUverbsCreateSRQ](), 16, (*Kernel).createSRQWrite},
		33:      {"MODIFY_SRQ", sizeOf[abi.IBUverbsModifySRQ](), 0, (*Kernel).modifySRQ},
		34:      {"QUERY_SRQ", 16, 16, (*Kernel).querySRQ},
		35:      {"DESTROY_SRQ", 16, 4, (*Kernel).destroyWithAnswer},
		37:      {"OPEN_XRCD", 16, 4, (*Kernel).openXRCD},
		38:      {"CLOSE_XRCD", 4, 0, (*Kernel).destroyByHandle},
		39:      {"CREATE_XSRQ", sizeOf[abi.IBUverbsCreateXsrq](), 16, (*Kernel).createXSRQ},
		28:      {"POST_SEND", 24, 4, (*Kernel).postSend},
		29:      {"POST_RECV", 24, 4, (*Kernel).postRecv},
		40:      {"OPEN_QP", 32, 32, (*Kernel).openQP},
		ex | 18: {"CREATE_CQ_EX", 32, 16, (*Kernel).createCQEx},
		ex | 24: {"CREATE_QP_EX", 56, sizeOf[abi.IBUverbsExCreateQPResp](), (*Kernel).createQPEx},
		ex | 57: {"MODIFY_CQ", 16, 0, (*Kernel).modifyCQ},
		ex | 1:  {"QUERY_DEVICE_EX", 8, sizeOf[abi.IBUverbsQueryDeviceResp]() + 8, (*Kernel).queryDevice},
		ex | 26: {"MODIFY_QP_EX", sizeOf[abi.IBUverbsExModifyQP](), 8, (*Kernel).modifyQPEx},
	}
}
