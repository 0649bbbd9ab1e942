// This file mirrors the command numbers, command headers and event records of
// include/uapi/rdma/ib_user_verbs.h. The commands are written to /dev/infiniband/uverbsN,
// or sent through UVERBS_METHOD_INVOKE_WRITE; the structs follow in the files named
// ib_user_verbs_*.go.

package abi

import "structs"

// ABI version of the uverbs devices (/sys/class/infiniband_verbs/abi_version), and the
// number of the first command that exists only in extended form.
const (
	IB_USER_VERBS_ABI_VERSION   = 6
	IB_USER_VERBS_CMD_THRESHOLD = 50
)

// IBUverbsWriteCmds is enum ib_uverbs_write_cmds, the commands written to a uverbs device.
// Several were never implemented by any kernel (MODIFY_AH, QUERY_AH, REG_SMR, QUERY_MR,
// BIND_MW, PEEK_CQ).
type IBUverbsWriteCmds uint32

// Values of IBUverbsWriteCmds.
const (
	IB_USER_VERBS_CMD_GET_CONTEXT         IBUverbsWriteCmds = 0
	IB_USER_VERBS_CMD_QUERY_DEVICE        IBUverbsWriteCmds = 1
	IB_USER_VERBS_CMD_QUERY_PORT          IBUverbsWriteCmds = 2
	IB_USER_VERBS_CMD_ALLOC_PD            IBUverbsWriteCmds = 3
	IB_USER_VERBS_CMD_DEALLOC_PD          IBUverbsWriteCmds = 4
	IB_USER_VERBS_CMD_CREATE_AH           IBUverbsWriteCmds = 5
	IB_USER_VERBS_CMD_MODIFY_AH           IBUverbsWriteCmds = 6
	IB_USER_VERBS_CMD_QUERY_AH            IBUverbsWriteCmds = 7
	IB_USER_VERBS_CMD_DESTROY_AH          IBUverbsWriteCmds = 8
	IB_USER_VERBS_CMD_REG_MR              IBUverbsWriteCmds = 9
	IB_USER_VERBS_CMD_REG_SMR             IBUverbsWriteCmds = 10
	IB_USER_VERBS_CMD_REREG_MR            IBUverbsWriteCmds = 11
	IB_USER_VERBS_CMD_QUERY_MR            IBUverbsWriteCmds = 12
	IB_USER_VERBS_CMD_DEREG_MR            IBUverbsWriteCmds = 13
	IB_USER_VERBS_CMD_ALLOC_MW            IBUverbsWriteCmds = 14
	IB_USER_VERBS_CMD_BIND_MW             IBUverbsWriteCmds = 15
	IB_USER_VERBS_CMD_DEALLOC_MW          IBUverbsWriteCmds = 16
	IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL IBUverbsWriteCmds = 17
	IB_USER_VERBS_CMD_CREATE_CQ           IBUverbsWriteCmds = 18
	IB_USER_VERBS_CMD_RESIZE_CQ           IBUverbsWriteCmds = 19
	IB_USER_VERBS_CMD_DESTROY_CQ          IBUverbsWriteCmds = 20
	IB_USER_VERBS_CMD_POLL_CQ             IBUverbsWriteCmds = 21
	IB_USER_VERBS_CMD_PEEK_CQ             IBUverbsWriteCmds = 22
	IB_USER_VERBS_CMD_REQ_NOTIFY_CQ       IBUverbsWriteCmds = 23
	IB_USER_VERBS_CMD_CREATE_QP           IBUverbsWriteCmds = 24
	IB_USER_VERBS_CMD_QUERY_QP            IBUverbsWriteCmds = 25
	IB_USER_VERBS_CMD_MODIFY_QP           IBUverbsWriteCmds = 26
	IB_USER_VERBS_CMD_DESTROY_QP          IBUverbsWriteCmds = 27
	IB_USER_VERBS_CMD_POST_SEND           IBUverbsWriteCmds = 28
	IB_USER_VERBS_CMD_POST_RECV           IBUverbsWriteCmds = 29
	IB_USER_VERBS_CMD_ATTACH_MCAST        IBUverbsWriteCmds = 30
	IB_USER_VERBS_CMD_DETACH_MCAST        IBUverbsWriteCmds = 31
	IB_USER_VERBS_CMD_CREATE_SRQ          IBUverbsWriteCmds = 32
	IB_USER_VERBS_CMD_MODIFY_SRQ          IBUverbsWriteCmds = 33
	IB_USER_VERBS_CMD_QUERY_SRQ           IBUverbsWriteCmds = 34
	IB_USER_VERBS_CMD_DESTROY_SRQ         IBUverbsWriteCmds = 35
	IB_USER_VERBS_CMD_POST_SRQ_RECV       IBUverbsWriteCmds = 36
	IB_USER_VERBS_CMD_OPEN_XRCD           IBUverbsWriteCmds = 37
	IB_USER_VERBS_CMD_CLOSE_XRCD          IBUverbsWriteCmds = 38
	IB_USER_VERBS_CMD_CREATE_XSRQ         IBUverbsWriteCmds = 39
	IB_USER_VERBS_CMD_OPEN_QP             IBUverbsWriteCmds = 40
)

// Extended commands: they carry IB_USER_VERBS_CMD_FLAG_EXTENDED and start with
// IBUverbsExCmdHdr.
const (
	IB_USER_VERBS_EX_CMD_QUERY_DEVICE        = 1
	IB_USER_VERBS_EX_CMD_CREATE_CQ           = 18
	IB_USER_VERBS_EX_CMD_CREATE_QP           = 24
	IB_USER_VERBS_EX_CMD_MODIFY_QP           = 26
	IB_USER_VERBS_EX_CMD_CREATE_FLOW         = 50
	IB_USER_VERBS_EX_CMD_DESTROY_FLOW        = 51
	IB_USER_VERBS_EX_CMD_CREATE_WQ           = 52
	IB_USER_VERBS_EX_CMD_MODIFY_WQ           = 53
	IB_USER_VERBS_EX_CMD_DESTROY_WQ          = 54
	IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL  = 55
	IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL = 56
	IB_USER_VERBS_EX_CMD_MODIFY_CQ           = 57
)

// IBUverbsAsyncEventDesc is struct ib_uverbs_async_event_desc, one record read from the
// asynchronous event file. Element is the user handle of the QP, CQ, SRQ or WQ, or the
// port number.
type IBUverbsAsyncEventDesc struct {
	_         structs.HostLayout
	Element   uint64
	EventType uint32 // IBEventType
	Reserved  uint32
}

// IBUverbsCompEventDesc is struct ib_uverbs_comp_event_desc, one record read from a
// completion channel: the user handle of the CQ.
type IBUverbsCompEventDesc struct {
	_        structs.HostLayout
	CQHandle uint64
}

// Parts of IBUverbsCmdHdr.Command: the number, and the flag of an extended command.
const (
	IB_USER_VERBS_CMD_COMMAND_MASK  = 0xff
	IB_USER_VERBS_CMD_FLAG_EXTENDED = 0x80000000
)

// IBUverbsCmdHdr is struct ib_uverbs_cmd_hdr, the header of every command written to a
// uverbs device. InWords counts 32-bit words including this header (64-bit words without
// headers in an extended command), OutWords those of the response.
type IBUverbsCmdHdr struct {
	_        structs.HostLayout
	Command  uint32
	InWords  uint16
	OutWords uint16
}

// IBUverbsExCmdHdr is struct ib_uverbs_ex_cmd_hdr, the second header of an extended
// command. Its word counts are in units of 8 bytes.
type IBUverbsExCmdHdr struct {
	_                structs.HostLayout
	Response         uint64
	ProviderInWords  uint16
	ProviderOutWords uint16
	CmdHdrReserved   uint32
}
