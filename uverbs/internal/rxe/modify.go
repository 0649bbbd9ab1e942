package rxe

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// CheckModify refuses what rxe_qp_from_attr stores and nothing looks at: an alternate
// path, though the device says that it could migrate (RXE_DEVICE_CAP_FLAGS), slots of
// the P_Key table, which has one, and InfiniBand's local addresses.
//
// The service level and the rate of a path are not used either. They are left alone:
// the connection manager sets them (cma_resolve_iboe_route), and they ask for quality
// that nobody promises.
func (*context) CheckModify(req provider.ModifyRequest) error {
	switch m := req.Mask; {
	case m&abi.IB_QP_ALT_PATH != 0, m&abi.IB_QP_PATH_MIG_STATE != 0 && req.MigState != abi.IB_MIG_MIGRATED:
		return errAltPath
	case m&abi.IB_QP_PKEY_INDEX != 0 && req.PKeyIndex != 0:
		return fmt.Errorf("soft-RoCE's P_Key table has slot 0 only, not %d: %w", req.PKeyIndex, errors.ErrUnsupported)
	case m&abi.IB_QP_AV != 0 && (req.DLID != 0 || req.PathBits != 0):
		return errLID
	}
	return nil
}
