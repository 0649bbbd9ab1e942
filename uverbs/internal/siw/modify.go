package siw

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// CheckModify refuses what siw_verbs_modify_qp takes and forgets: all attributes but
// the state and the access flags. What else InfiniBand has (paths, packet numbers,
// timeouts), a TCP connection has by itself.
func (*context) CheckModify(req provider.ModifyRequest) error {
	done := abi.IB_QP_STATE | abi.IB_QP_ACCESS_FLAGS
	if req.Port == 1 { // the only one, which rdma_init_qp_attr names
		done |= abi.IB_QP_PORT
	}
	if other := req.Mask &^ done; other != 0 {
		return fmt.Errorf("siw has no queue pair attributes %#x, only state and access: connections are made by "+
			"the connection manager (package cm): %w", uint32(other), errors.ErrUnsupported)
	}
	if req.Mask&abi.IB_QP_STATE != 0 {
		if err := checkState(req.State); err != nil {
			return err
		}
	}
	if req.Mask&abi.IB_QP_ACCESS_FLAGS != 0 {
		return checkQPAccess(req.Access)
	}
	return nil
}

// checkState: siw takes RESET and does nothing, and SQD and SQE for the end of the
// connection (ib_qp_state_to_siw_qp_state). INIT and RTR do nothing either, but they
// are what the connection manager says on the way (iwcm_init_qp_init_attr), and it
// takes the queue pair to RTS.
func checkState(s abi.IBQPState) error {
	switch s {
	case abi.IB_QPS_RESET:
		return fmt.Errorf("siw does not reset a queue pair: make a new one: %w", errors.ErrUnsupported)
	case abi.IB_QPS_SQD, abi.IB_QPS_SQE:
		return fmt.Errorf("siw has no state %v, it would end the connection: wait for completions to drain the queue: %w",
			s, errors.ErrUnsupported)
	}
	return nil
}

// checkQPAccess refuses what no iWARP has. That siw stores the other flags and looks at
// those of regions only, so that a queue pair forbids nothing, cannot be told by a
// refusal: the connection manager itself says that nothing is allowed as long as it does
// not know of the peer (rdma_init_qp_attr).
func checkQPAccess(a abi.IBUverbsAccessFlags) error {
	if a&abi.IB_UVERBS_ACCESS_REMOTE_ATOMIC != 0 {
		return errAtomicAccess
	}
	return nil
}
