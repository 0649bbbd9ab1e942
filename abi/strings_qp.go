// This file holds the texts of queue and work request values.

package abi

// String returns the kernel's name without its prefix, such as "RC".
func (t IBQPType) String() string { return nameOf(qpTypeNames[:], "IBQPType", uint64(t)) }

// String is that of IBQPType, whose numbers are the same.
func (t IBUverbsQPType) String() string { return nameOf(qpTypeNames[:], "IBUverbsQPType", uint64(t)) }

var qpTypeNames = [...]string{
	IB_QPT_SMI:           "SMI",
	IB_QPT_GSI:           "GSI",
	IB_QPT_RC:            "RC",
	IB_QPT_UC:            "UC",
	IB_QPT_UD:            "UD",
	IB_QPT_RAW_IPV6:      "RAW_IPV6",
	IB_QPT_RAW_ETHERTYPE: "RAW_ETHERTYPE",
	IB_QPT_RAW_PACKET:    "RAW_PACKET",
	IB_QPT_XRC_INI:       "XRC_INI",
	IB_QPT_XRC_TGT:       "XRC_TGT",
	IB_QPT_DRIVER:        "DRIVER",
}

// String returns the kernel's name without its prefix, such as "RTS".
func (s IBQPState) String() string { return nameOf(qpStateNames[:], "IBQPState", uint64(s)) }

var qpStateNames = [...]string{
	IB_QPS_RESET: "RESET",
	IB_QPS_INIT:  "INIT",
	IB_QPS_RTR:   "RTR",
	IB_QPS_RTS:   "RTS",
	IB_QPS_SQD:   "SQD",
	IB_QPS_SQE:   "SQE",
	IB_QPS_ERR:   "ERR",
}

// String returns the kernel's name without its prefix.
func (s IBMigState) String() string { return nameOf(migStateNames[:], "IBMigState", uint64(s)) }

var migStateNames = [...]string{
	IB_MIG_MIGRATED: "MIGRATED",
	IB_MIG_REARM:    "REARM",
	IB_MIG_ARMED:    "ARMED",
}

// String returns the kernel's name without its prefix.
func (s IBWQState) String() string { return nameOf(wqStateNames[:], "IBWQState", uint64(s)) }

var wqStateNames = [...]string{
	IB_WQS_RESET: "RESET",
	IB_WQS_RDY:   "RDY",
	IB_WQS_ERR:   "ERR",
}

// String returns the kernel's name without its prefix.
func (t IBUverbsSRQType) String() string {
	return nameOf(srqTypeNames[:], "IBUverbsSRQType", uint64(t))
}

var srqTypeNames = [...]string{
	IB_UVERBS_SRQT_BASIC: "BASIC",
	IB_UVERBS_SRQT_XRC:   "XRC",
	IB_UVERBS_SRQT_TM:    "TM",
}

// String returns the kernel's name without its prefix, such as "RDMA_WRITE".
func (o IBUverbsWROpcode) String() string {
	return nameOf(wrOpcodeNames[:], "IBUverbsWROpcode", uint64(o))
}

var wrOpcodeNames = [...]string{
	IB_UVERBS_WR_RDMA_WRITE:                  "RDMA_WRITE",
	IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:         "RDMA_WRITE_WITH_IMM",
	IB_UVERBS_WR_SEND:                        "SEND",
	IB_UVERBS_WR_SEND_WITH_IMM:               "SEND_WITH_IMM",
	IB_UVERBS_WR_RDMA_READ:                   "RDMA_READ",
	IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:          "ATOMIC_CMP_AND_SWP",
	IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:        "ATOMIC_FETCH_AND_ADD",
	IB_UVERBS_WR_LOCAL_INV:                   "LOCAL_INV",
	IB_UVERBS_WR_BIND_MW:                     "BIND_MW",
	IB_UVERBS_WR_SEND_WITH_INV:               "SEND_WITH_INV",
	IB_UVERBS_WR_TSO:                         "TSO",
	IB_UVERBS_WR_RDMA_READ_WITH_INV:          "RDMA_READ_WITH_INV",
	IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP:   "MASKED_ATOMIC_CMP_AND_SWP",
	IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD: "MASKED_ATOMIC_FETCH_AND_ADD",
	IB_UVERBS_WR_FLUSH:                       "FLUSH",
	IB_UVERBS_WR_ATOMIC_WRITE:                "ATOMIC_WRITE",
}

// String returns the kernel's name without its prefix, such as "RECV".
func (o IBWCOpcode) String() string { return nameOf(wcOpcodeNames[:], "IBWCOpcode", uint64(o)) }

// String is that of IBWCOpcode, whose numbers are the same.
func (o IBUverbsWCOpcode) String() string {
	return nameOf(wcOpcodeNames[:], "IBUverbsWCOpcode", uint64(o))
}

var wcOpcodeNames = [...]string{
	IB_WC_SEND:               "SEND",
	IB_WC_RDMA_WRITE:         "RDMA_WRITE",
	IB_WC_RDMA_READ:          "RDMA_READ",
	IB_WC_COMP_SWAP:          "COMP_SWAP",
	IB_WC_FETCH_ADD:          "FETCH_ADD",
	IB_WC_BIND_MW:            "BIND_MW",
	IB_WC_LOCAL_INV:          "LOCAL_INV",
	IB_WC_LSO:                "TSO",
	IB_WC_ATOMIC_WRITE:       "ATOMIC_WRITE",
	IB_WC_REG_MR:             "REG_MR",
	IB_WC_MASKED_COMP_SWAP:   "MASKED_COMP_SWAP",
	IB_WC_MASKED_FETCH_ADD:   "MASKED_FETCH_ADD",
	IB_WC_FLUSH:              "FLUSH",
	IB_WC_RECV:               "RECV",
	IB_WC_RECV_RDMA_WITH_IMM: "RECV_RDMA_WITH_IMM",
}

// String returns what the status means, such as "remote access error".
func (s IBWCStatus) String() string { return nameOf(wcStatusNames[:], "IBWCStatus", uint64(s)) }

var wcStatusNames = [...]string{
	IB_WC_SUCCESS:            "success",
	IB_WC_LOC_LEN_ERR:        "local length error",
	IB_WC_LOC_QP_OP_ERR:      "local QP operation error",
	IB_WC_LOC_EEC_OP_ERR:     "local EE context operation error",
	IB_WC_LOC_PROT_ERR:       "local protection error",
	IB_WC_WR_FLUSH_ERR:       "flushed",
	IB_WC_MW_BIND_ERR:        "memory window bind error",
	IB_WC_BAD_RESP_ERR:       "bad response",
	IB_WC_LOC_ACCESS_ERR:     "local access error",
	IB_WC_REM_INV_REQ_ERR:    "remote invalid request error",
	IB_WC_REM_ACCESS_ERR:     "remote access error",
	IB_WC_REM_OP_ERR:         "remote operation error",
	IB_WC_RETRY_EXC_ERR:      "transport retry counter exceeded",
	IB_WC_RNR_RETRY_EXC_ERR:  "receiver not ready, retry counter exceeded",
	IB_WC_LOC_RDD_VIOL_ERR:   "local RD domain violation",
	IB_WC_REM_INV_RD_REQ_ERR: "remote invalid RD request",
	IB_WC_REM_ABORT_ERR:      "remote aborted",
	IB_WC_INV_EECN_ERR:       "invalid EE context number",
	IB_WC_INV_EEC_STATE_ERR:  "invalid EE context state",
	IB_WC_FATAL_ERR:          "fatal error",
	IB_WC_RESP_TIMEOUT_ERR:   "response timeout",
	IB_WC_GENERAL_ERR:        "general error",
	IB_WC_TM_ERR:             "tag matching error",
	IB_WC_TM_RNDV_INCOMPLETE: "tag matching rendezvous incomplete",
}

// String returns the kernel's name without its prefix.
func (o SIWOpcode) String() string { return nameOf(siwOpcodeNames[:], "SIWOpcode", uint64(o)) }

var siwOpcodeNames = [...]string{
	SIW_OP_WRITE:           "WRITE",
	SIW_OP_READ:            "READ",
	SIW_OP_READ_LOCAL_INV:  "READ_LOCAL_INV",
	SIW_OP_SEND:            "SEND",
	SIW_OP_SEND_WITH_IMM:   "SEND_WITH_IMM",
	SIW_OP_SEND_REMOTE_INV: "SEND_REMOTE_INV",
	SIW_OP_FETCH_AND_ADD:   "FETCH_AND_ADD",
	SIW_OP_COMP_AND_SWAP:   "COMP_AND_SWAP",
	SIW_OP_RECEIVE:         "RECEIVE",
	SIW_OP_READ_RESPONSE:   "READ_RESPONSE",
	SIW_OP_INVAL_STAG:      "INVAL_STAG",
	SIW_OP_REG_MR:          "REG_MR",
}

// String returns the kernel's name without its prefix.
func (s SIWWCStatus) String() string { return nameOf(siwStatusNames[:], "SIWWCStatus", uint64(s)) }

var siwStatusNames = [...]string{
	SIW_WC_SUCCESS:         "SUCCESS",
	SIW_WC_LOC_LEN_ERR:     "LOC_LEN_ERR",
	SIW_WC_LOC_PROT_ERR:    "LOC_PROT_ERR",
	SIW_WC_LOC_QP_OP_ERR:   "LOC_QP_OP_ERR",
	SIW_WC_WR_FLUSH_ERR:    "WR_FLUSH_ERR",
	SIW_WC_BAD_RESP_ERR:    "BAD_RESP_ERR",
	SIW_WC_LOC_ACCESS_ERR:  "LOC_ACCESS_ERR",
	SIW_WC_REM_ACCESS_ERR:  "REM_ACCESS_ERR",
	SIW_WC_REM_INV_REQ_ERR: "REM_INV_REQ_ERR",
	SIW_WC_GENERAL_ERR:     "GENERAL_ERR",
}
