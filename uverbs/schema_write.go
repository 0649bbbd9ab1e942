package uverbs

import (
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// writeCmd describes one command of the older interface: write(2) of a header,
// a core struct and the driver's own bytes. The ioctl interface runs the same
// commands through INVOKE_WRITE.
type writeCmd struct {
	name string
	num  uint32
	ex   bool // extended: 64-bit words, driver bytes counted on their own
	in   int  // size of the core struct of the command
	out  int  // size of the core struct of the answer, 0 for none
}

func size[T any]() int {
	var t T
	return int(unsafe.Sizeof(t))
}

var (
	cmdGetContext = writeCmd{name: "GET_CONTEXT", num: uint32(abi.IB_USER_VERBS_CMD_GET_CONTEXT),
		in: size[abi.IBUverbsGetContext](), out: size[abi.IBUverbsGetContextResp]()}
	cmdQueryDevice = writeCmd{name: "QUERY_DEVICE", num: uint32(abi.IB_USER_VERBS_CMD_QUERY_DEVICE),
		in: size[abi.IBUverbsQueryDevice](), out: size[abi.IBUverbsQueryDeviceResp]()}
	cmdExQueryDevice = writeCmd{name: "QUERY_DEVICE_EX", num: abi.IB_USER_VERBS_EX_CMD_QUERY_DEVICE, ex: true,
		in: size[abi.IBUverbsExQueryDevice](), out: size[abi.IBUverbsExQueryDeviceResp]()}
	cmdQueryPort = writeCmd{name: "QUERY_PORT", num: uint32(abi.IB_USER_VERBS_CMD_QUERY_PORT),
		in: size[abi.IBUverbsQueryPort](), out: size[abi.IBUverbsQueryPortResp]()}
	cmdAllocPD = writeCmd{name: "ALLOC_PD", num: uint32(abi.IB_USER_VERBS_CMD_ALLOC_PD),
		in: size[abi.IBUverbsAllocPD](), out: size[abi.IBUverbsAllocPDResp]()}
	cmdDeallocPD = writeCmd{name: "DEALLOC_PD", num: uint32(abi.IB_USER_VERBS_CMD_DEALLOC_PD),
		in: size[abi.IBUverbsDeallocPD]()}
	cmdCreateAH = writeCmd{name: "CREATE_AH", num: uint32(abi.IB_USER_VERBS_CMD_CREATE_AH),
		in: size[abi.IBUverbsCreateAH](), out: size[abi.IBUverbsCreateAHResp]()}
	cmdDestroyAH = writeCmd{name: "DESTROY_AH", num: uint32(abi.IB_USER_VERBS_CMD_DESTROY_AH),
		in: size[abi.IBUverbsDestroyAH]()}
	cmdRegMR = writeCmd{name: "REG_MR", num: uint32(abi.IB_USER_VERBS_CMD_REG_MR),
		in: size[abi.IBUverbsRegMR](), out: size[abi.IBUverbsRegMRResp]()}
	cmdReregMR = writeCmd{name: "REREG_MR", num: uint32(abi.IB_USER_VERBS_CMD_REREG_MR),
		in: size[abi.IBUverbsReregMR](), out: size[abi.IBUverbsReregMRResp]()}
	cmdDeregMR = writeCmd{name: "DEREG_MR", num: uint32(abi.IB_USER_VERBS_CMD_DEREG_MR),
		in: size[abi.IBUverbsDeregMR]()}
	cmdAllocMW = writeCmd{name: "ALLOC_MW", num: uint32(abi.IB_USER_VERBS_CMD_ALLOC_MW),
		in: size[abi.IBUverbsAllocMW](), out: size[abi.IBUverbsAllocMWResp]()}
	cmdDeallocMW = writeCmd{name: "DEALLOC_MW", num: uint32(abi.IB_USER_VERBS_CMD_DEALLOC_MW),
		in: size[abi.IBUverbsDeallocMW]()}
	cmdCreateCompChannel = writeCmd{name: "CREATE_COMP_CHANNEL", num: uint32(abi.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL),
		in: size[abi.IBUverbsCreateCompChannel](), out: size[abi.IBUverbsCreateCompChannelResp]()}
	cmdCreateCQ = writeCmd{name: "CREATE_CQ", num: uint32(abi.IB_USER_VERBS_CMD_CREATE_CQ),
		in: size[abi.IBUverbsCreateCQ](), out: size[abi.IBUverbsCreateCQResp]()}
	cmdExCreateCQ = writeCmd{name: "CREATE_CQ_EX", num: abi.IB_USER_VERBS_EX_CMD_CREATE_CQ, ex: true,
		in: size[abi.IBUverbsExCreateCQ](), out: size[abi.IBUverbsExCreateCQResp]()}
	cmdReqNotifyCQ = writeCmd{name: "REQ_NOTIFY_CQ", num: uint32(abi.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ),
		in: size[abi.IBUverbsReqNotifyCQ]()}
	cmdResizeCQ = writeCmd{name: "RESIZE_CQ", num: uint32(abi.IB_USER_VERBS_CMD_RESIZE_CQ),
		in: size[abi.IBUverbsResizeCQ](), out: size[abi.IBUverbsResizeCQResp]()}
	cmdExModifyCQ = writeCmd{name: "MODIFY_CQ", num: abi.IB_USER_VERBS_EX_CMD_MODIFY_CQ, ex: true,
		in: size[abi.IBUverbsExModifyCQ]()}
	cmdDestroyCQ = writeCmd{name: "DESTROY_CQ", num: uint32(abi.IB_USER_VERBS_CMD_DESTROY_CQ),
		in: size[abi.IBUverbsDestroyCQ](), out: size[abi.IBUverbsDestroyCQResp]()}
	cmdCreateQP = writeCmd{name: "CREATE_QP", num: uint32(abi.IB_USER_VERBS_CMD_CREATE_QP),
		in: size[abi.IBUverbsCreateQP](), out: size[abi.IBUverbsCreateQPResp]()}
	cmdExCreateQP = writeCmd{name: "CREATE_QP_EX", num: abi.IB_USER_VERBS_EX_CMD_CREATE_QP, ex: true,
		in: size[abi.IBUverbsExCreateQP](), out: size[abi.IBUverbsExCreateQPResp]()}
	cmdOpenQP = writeCmd{name: "OPEN_QP", num: uint32(abi.IB_USER_VERBS_CMD_OPEN_QP),
		in: size[abi.IBUverbsOpenQP](), out: size[abi.IBUverbsCreateQPResp]()}
	cmdQueryQP = writeCmd{name: "QUERY_QP", num: uint32(abi.IB_USER_VERBS_CMD_QUERY_QP),
		in: size[abi.IBUverbsQueryQP](), out: size[abi.IBUverbsQueryQPResp]()}
	cmdModifyQP = writeCmd{name: "MODIFY_QP", num: uint32(abi.IB_USER_VERBS_CMD_MODIFY_QP),
		in: size[abi.IBUverbsModifyQP]()}
	cmdExModifyQP = writeCmd{name: "MODIFY_QP_EX", num: abi.IB_USER_VERBS_EX_CMD_MODIFY_QP, ex: true,
		in: size[abi.IBUverbsExModifyQP](), out: size[abi.IBUverbsExModifyQPResp]()}
	cmdDestroyQP = writeCmd{name: "DESTROY_QP", num: uint32(abi.IB_USER_VERBS_CMD_DESTROY_QP),
		in: size[abi.IBUverbsDestroyQP](), out: size[abi.IBUverbsDestroyQPResp]()}
	cmdCreateSRQ = writeCmd{name: "CREATE_SRQ", num: uint32(abi.IB_USER_VERBS_CMD_CREATE_SRQ),
		in: size[abi.IBUverbsCreateSRQ](), out: size[abi.IBUverbsCreateSRQResp]()}
	cmdCreateXSRQ = writeCmd{name: "CREATE_XSRQ", num: uint32(abi.IB_USER_VERBS_CMD_CREATE_XSRQ),
		in: size[abi.IBUverbsCreateXsrq](), out: size[abi.IBUverbsCreateSRQResp]()}
	cmdModifySRQ = writeCmd{name: "MODIFY_SRQ", num: uint32(abi.IB_USER_VERBS_CMD_MODIFY_SRQ),
		in: size[abi.IBUverbsModifySRQ]()}
	cmdQuerySRQ = writeCmd{name: "QUERY_SRQ", num: uint32(abi.IB_USER_VERBS_CMD_QUERY_SRQ),
		in: size[abi.IBUverbsQuerySRQ](), out: size[abi.IBUverbsQuerySRQResp]()}
	cmdDestroySRQ = writeCmd{name: "DESTROY_SRQ", num: uint32(abi.IB_USER_VERBS_CMD_DESTROY_SRQ),
		in: size[abi.IBUverbsDestroySRQ](), out: size[abi.IBUverbsDestroySRQResp]()}
	cmdOpenXRCD = writeCmd{name: "OPEN_XRCD", num: uint32(abi.IB_USER_VERBS_CMD_OPEN_XRCD),
		in: size[abi.IBUverbsOpenXRCD](), out: size[abi.IBUverbsOpenXRCDResp]()}
	cmdCloseXRCD = writeCmd{name: "CLOSE_XRCD", num: uint32(abi.IB_USER_VERBS_CMD_CLOSE_XRCD),
		in: size[abi.IBUverbsCloseXRCD]()}
	cmdAttachMcast = writeCmd{name: "ATTACH_MCAST", num: uint32(abi.IB_USER_VERBS_CMD_ATTACH_MCAST),
		in: size[abi.IBUverbsAttachMcast]()}
	cmdDetachMcast = writeCmd{name: "DETACH_MCAST", num: uint32(abi.IB_USER_VERBS_CMD_DETACH_MCAST),
		in: size[abi.IBUverbsDetachMcast]()}
	cmdPostSend = writeCmd{name: "POST_SEND", num: uint32(abi.IB_USER_VERBS_CMD_POST_SEND),
		in: size[abi.IBUverbsPostSend](), out: size[abi.IBUverbsPostSendResp]()}
)
