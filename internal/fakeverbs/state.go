package fakeverbs

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// transition is a step of a queue pair of one type.
type transition struct {
	typ      abi.IBUverbsQPType
	from, to abi.IBQPState
}

// attrMasks are the attributes that a step demands, and those that it allows
// besides (qp_state_table).
type attrMasks struct{ need, may abi.IBQPAttrMask }

var transitions = map[transition]attrMasks{}

func init() {
	const (
		rc, uc, ud            = abi.IB_UVERBS_QPT_RC, abi.IB_UVERBS_QPT_UC, abi.IB_UVERBS_QPT_UD
		reset, ini, rtr, rts  = abi.IB_QPS_RESET, abi.IB_QPS_INIT, abi.IB_QPS_RTR, abi.IB_QPS_RTS
		pkey, port, access    = abi.IB_QP_PKEY_INDEX, abi.IB_QP_PORT, abi.IB_QP_ACCESS_FLAGS
		qkey, cur, rnr, sqPSN = abi.IB_QP_QKEY, abi.IB_QP_CUR_STATE, abi.IB_QP_MIN_RNR_TIMER, abi.IB_QP_SQ_PSN
		alt, mig              = abi.IB_QP_ALT_PATH, abi.IB_QP_PATH_MIG_STATE
		peer                  = abi.IB_QP_AV | abi.IB_QP_PATH_MTU | abi.IB_QP_DEST_QPN | abi.IB_QP_RQ_PSN
		acks                  = abi.IB_QP_TIMEOUT | abi.IB_QP_RETRY_CNT | abi.IB_QP_RNR_RETRY | abi.IB_QP_MAX_QP_RD_ATOMIC
	)
	for _, t := range []abi.IBUverbsQPType{rc, uc} {
		transitions[transition{t, reset, ini}] = attrMasks{need: pkey | port | access}
		transitions[transition{t, ini, ini}] = attrMasks{may: pkey | port | access}
	}
	for _, t := range []abi.IBUverbsQPType{abi.IB_UVERBS_QPT_XRC_INI, abi.IB_UVERBS_QPT_XRC_TGT} {
		transitions[transition{t, reset, ini}] = attrMasks{need: pkey | port | access}
	}
	xrcPeer := peer | rnr | abi.IB_QP_MAX_DEST_RD_ATOMIC
	transitions[transition{abi.IB_UVERBS_QPT_XRC_INI, ini, rtr}] = attrMasks{peer, pkey | access}
	transitions[transition{abi.IB_UVERBS_QPT_XRC_TGT, ini, rtr}] = attrMasks{xrcPeer, pkey | access}
	transitions[transition{abi.IB_UVERBS_QPT_XRC_INI, rtr, rts}] = attrMasks{sqPSN | acks, cur | access}
	transitions[transition{abi.IB_UVERBS_QPT_XRC_TGT, rtr, rts}] = attrMasks{sqPSN | abi.IB_QP_TIMEOUT, cur | access | rnr}
	transitions[transition{ud, reset, ini}] = attrMasks{need: pkey | port | qkey}
	transitions[transition{ud, ini, ini}] = attrMasks{may: pkey | port | qkey}
	transitions[transition{rc, ini, rtr}] = attrMasks{peer | rnr | abi.IB_QP_MAX_DEST_RD_ATOMIC, pkey | access | alt}
	transitions[transition{uc, ini, rtr}] = attrMasks{peer, pkey | access}
	transitions[transition{ud, ini, rtr}] = attrMasks{may: pkey | qkey}
	transitions[transition{rc, rtr, rts}] = attrMasks{sqPSN | acks, cur | access | rnr | alt | mig}
	transitions[transition{uc, rtr, rts}] = attrMasks{sqPSN, cur | access}
	transitions[transition{ud, rtr, rts}] = attrMasks{sqPSN, cur | qkey}
	transitions[transition{rc, rts, rts}] = attrMasks{may: cur | access | rnr | alt | mig}
	transitions[transition{uc, rts, rts}] = attrMasks{may: cur | access}
	transitions[transition{ud, rts, rts}] = attrMasks{may: cur | qkey}
}

// checkModify refuses what ib_modify_qp_is_ok refuses.
func (q *qp) checkModify(req *abi.IBUverbsModifyQP) error {
	mask := abi.IBQPAttrMask(req.AttrMask)
	if mask&abi.IB_QP_STATE == 0 {
		return nil
	}
	to := abi.IBQPState(req.QPState)
	if to == abi.IB_QPS_RESET || to == abi.IB_QPS_ERR {
		return nil // from any state
	}
	m, ok := transitions[transition{q.typ, abi.IBQPState(q.state), to}]
	if mask &^= abi.IB_QP_STATE; !ok || mask&m.need != m.need || mask&^(m.need|m.may) != 0 {
		return syscall.EINVAL
	}
	return nil
}
