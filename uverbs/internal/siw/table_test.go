package siw

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

// TestTables: each row, by the numbers of enum siw_wc_status and enum siw_opcode.
func TestTables(t *testing.T) {
	statuses := []abi.IBWCStatus{
		abi.IB_WC_SUCCESS, abi.IB_WC_LOC_LEN_ERR, abi.IB_WC_LOC_PROT_ERR, abi.IB_WC_LOC_QP_OP_ERR, abi.IB_WC_WR_FLUSH_ERR,
		abi.IB_WC_BAD_RESP_ERR, abi.IB_WC_LOC_ACCESS_ERR, abi.IB_WC_REM_ACCESS_ERR, abi.IB_WC_REM_INV_REQ_ERR, abi.IB_WC_GENERAL_ERR,
	}
	if diff := cmp.Diff(statuses, wcStatus[:]); diff != "" {
		t.Errorf("statuses (-want +got):\n%s", diff)
	}
	opcodes := []abi.IBWCOpcode{
		abi.IB_WC_RDMA_WRITE, abi.IB_WC_RDMA_READ, abi.IB_WC_RDMA_READ, abi.IB_WC_SEND, abi.IB_WC_SEND, abi.IB_WC_SEND,
		abi.IB_WC_FETCH_ADD, abi.IB_WC_COMP_SWAP, abi.IB_WC_RECV, 0 /* READ_RESPONSE completes nothing */, abi.IB_WC_LOCAL_INV, abi.IB_WC_REG_MR,
	}
	if diff := cmp.Diff(opcodes, wcOpcodes[:]); diff != "" {
		t.Errorf("opcodes (-want +got):\n%s", diff)
	}
}
