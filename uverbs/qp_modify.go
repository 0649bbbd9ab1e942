package uverbs

import (
	"fmt"
	"math/rand/v2"

	"github.com/purerdma/rdma/abi"
)

// Modify changes the attributes that mask names (MODIFY_QP, or MODIFY_QP_EX for a
// rate limit). The kernel allows only what the state transition allows. The error
// is an *[Error], mostly with syscall.EINVAL; it then tells the state that the
// queue pair is in, and a limit of the device that is exceeded. It matches
// errors.ErrUnsupported for attributes that the device's driver would take without
// doing anything: alternate paths and slots above 0 of the P_Key table on soft-RoCE;
// on soft-iWARP all but State and Access, since the connection manager does the rest.
func (qp *QP) Modify(attr QPAttr, mask abi.IBQPAttrMask) error {
	err := attr.check(mask)
	if err == nil {
		err = qp.c.drv.CheckModify(attr.forDriver(mask))
	}
	if err != nil {
		return qp.c.fail(cmdModifyQP.name, qp.life.name, err)
	}
	return qp.modify(attr.request(qp.handle, mask), attr.RateLimit)
}

// ModifyFromCM changes the attributes that the connection manager determined
// (ucma INIT_QP_ATTR), as the mask inside says. The error is that of Modify.
func (qp *QP) ModifyFromCM(attr *abi.IBUverbsQPAttr) error {
	return qp.Modify(QPAttrFromCM(attr))
}

func (qp *QP) modify(req abi.IBUverbsModifyQP, rate uint32) error {
	if err := qp.life.enter(); err != nil {
		return err
	}
	defer qp.life.leave()
	if req.AttrMask&uint32(abi.IB_QP_PORT) != 0 {
		qp.port.Store(uint32(req.PortNum))
	}
	name, err := cmdModifyQP.name, error(nil)
	if req.AttrMask&uint32(abi.IB_QP_RATE_LIMIT) != 0 {
		name, err = cmdExModifyQP.name, qp.modifyEx(&req, rate)
	} else {
		err = qp.modifyPlain(&req)
	}
	if err != nil {
		return qp.explainModify(qp.c.fail(name, describeModify(qp.life.name, &req), err), &req)
	}
	return nil
}

func (qp *QP) modifyPlain(req *abi.IBUverbsModifyQP) error {
	w, err := newWrite(&cmdModifyQP, nil, 0)
	if err != nil {
		return err
	}
	defer w.release()
	*reqOf[abi.IBUverbsModifyQP](w) = *req
	return qp.c.writeRaw(w)
}

func (qp *QP) modifyEx(req *abi.IBUverbsModifyQP, rate uint32) error {
	w, err := newWrite(&cmdExModifyQP, nil, 0)
	if err != nil {
		return err
	}
	defer w.release()
	ex := reqOf[abi.IBUverbsExModifyQP](w)
	ex.Base, ex.RateLimit = *req, rate
	return qp.c.writeRaw(w)
}

func describeModify(name string, req *abi.IBUverbsModifyQP) string {
	if req.AttrMask&uint32(abi.IB_QP_STATE) == 0 {
		return fmt.Sprintf("%s, attributes %#x", name, req.AttrMask)
	}
	return fmt.Sprintf("%s to %v, attributes %#x", name, abi.IBQPState(req.QPState), req.AttrMask)
}

// allQPAttrs asks QUERY_QP for everything.
const allQPAttrs = 1<<21 - 1

// Query returns the queue pair's attributes and limits as the kernel has them
// (QUERY_QP). The error is an *[Error].
func (qp *QP) Query() (QPAttr, error) {
	if err := qp.life.enter(); err != nil {
		return QPAttr{}, err
	}
	defer qp.life.leave()
	return qp.query()
}

func (qp *QP) query() (QPAttr, error) {
	w, err := newWrite(&cmdQueryQP, nil, 0)
	if err != nil {
		return QPAttr{}, qp.c.fail(cmdQueryQP.name, qp.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsQueryQP](w)
	req.QPHandle, req.AttrMask = qp.handle, allQPAttrs
	if err := qp.c.write(w, qp.life.name); err != nil {
		return QPAttr{}, err
	}
	return attrFromQuery(respOf[abi.IBUverbsQueryQPResp](w)), nil
}

// ToInit takes a connected queue pair from RESET to INIT, in which receives can
// be posted (MODIFY_QP). port is the own port, from 1; access is what the peer
// may do, 0 for messages only. The P_Key is that of slot 0 of the port's table;
// use Modify for another. The error is that of Modify.
func (qp *QP) ToInit(port uint8, access Access) error {
	return qp.Modify(QPAttr{State: abi.IB_QPS_INIT, Port: port, Access: access},
		abi.IB_QP_STATE|abi.IB_QP_PKEY_INDEX|abi.IB_QP_PORT|abi.IB_QP_ACCESS_FLAGS)
}

// ToInitUD is ToInit for a datagram queue pair. It drops messages whose
// SendWR.RemoteQKey is not qkey. A number with the highest bit set is for
// privileged programs (CAP_NET_RAW); newer kernels return syscall.EPERM to others.
// The error is that of Modify.
func (qp *QP) ToInitUD(port uint8, qkey uint32) error {
	return qp.Modify(QPAttr{State: abi.IB_QPS_INIT, Port: port, QKey: qkey},
		abi.IB_QP_STATE|abi.IB_QP_PKEY_INDEX|abi.IB_QP_PORT|abi.IB_QP_QKEY)
}

// RTRConfig is what a connected queue pair must know of its peer to receive. A
// datagram queue pair has no peer: all is ignored. So are the last two fields
// on an unreliable connection.
type RTRConfig struct {
	AH      AHAttr    // the path to the peer
	MTU     abi.IBMTU // path MTU, a code and not bytes; 0 becomes IB_MTU_1024, or less where the port has less
	DestQPN uint32    // the peer's queue pair number
	PSN     uint32    // the first packet number the peer sends (its RTSConfig.PSN)

	// MaxDestRdAtomic is how many reads and atomic operations the peer may
	// have outstanding; 0 becomes 1.
	MaxDestRdAtomic uint8

	// MinRNRTimer is the code of the pause asked for when no receive is
	// posted; 0 is the longest, 655 ms.
	MinRNRTimer uint8
}

// ToRTR takes a queue pair from INIT to RTR: it receives (MODIFY_QP). On RoCE
// the kernel resolves the peer's Ethernet address meanwhile, which may take a
// second.
//
// The error is that of Modify: syscall.EINVAL for a queue pair in another state,
// an MTU above the port's, or a path that cannot be; syscall.ETIMEDOUT when no neighbour
// answers for the peer's address or there is no route to it (other kernels may say
// EHOSTUNREACH or ENETUNREACH of that), ENODATA when the slot of the own GID is empty. The hint says which.
func (qp *QP) ToRTR(cfg RTRConfig) error {
	if err := qp.checkMTU(&cfg); err != nil {
		return err
	}
	attr := QPAttr{
		State: abi.IB_QPS_RTR, AH: cfg.AH, PathMTU: cfg.MTU, DestQPN: cfg.DestQPN, RQPSN: cfg.PSN,
		MaxDestRdAtomic: max(cfg.MaxDestRdAtomic, 1), MinRNRTimer: cfg.MinRNRTimer,
	}
	return qp.Modify(attr, abi.IB_QP_STATE|steps[qp.cfg.Type].rtr)
}

// RTSConfig is what a queue pair must know to send. Only PSN counts for
// datagrams and unreliable connections.
type RTSConfig struct {
	PSN         uint32 // the first packet number, 24 bits; see NewPSN
	Timeout     uint8  // see QPAttr.Timeout; 0 waits for ever
	RetryCount  uint8  // see QPAttr.RetryCount
	RNRRetry    uint8  // see QPAttr.RNRRetry
	MaxRdAtomic uint8  // own reads and atomic operations outstanding; 0 becomes 1
}

// ToRTS takes a queue pair from RTR to RTS: it sends too (MODIFY_QP). The error
// is that of Modify, with syscall.EINVAL for a queue pair in another state.
func (qp *QP) ToRTS(cfg RTSConfig) error {
	attr := QPAttr{
		State: abi.IB_QPS_RTS, SQPSN: cfg.PSN, Timeout: cfg.Timeout, RetryCount: cfg.RetryCount,
		RNRRetry: cfg.RNRRetry, MaxRdAtomic: max(cfg.MaxRdAtomic, 1),
	}
	return qp.Modify(attr, abi.IB_QP_STATE|steps[qp.cfg.Type].rts)
}

// steps are the attributes that the steps to RTR and RTS must have, by type of
// queue pair (qp_state_table). Raw packets have none.
var steps = map[abi.IBUverbsQPType]struct{ rtr, rts abi.IBQPAttrMask }{
	abi.IB_UVERBS_QPT_RC:      {stepPeer | stepResponder, abi.IB_QP_SQ_PSN | stepRequester},
	abi.IB_UVERBS_QPT_UC:      {stepPeer, abi.IB_QP_SQ_PSN},
	abi.IB_UVERBS_QPT_UD:      {0, abi.IB_QP_SQ_PSN},
	abi.IB_UVERBS_QPT_XRC_INI: {stepPeer, abi.IB_QP_SQ_PSN | stepRequester},
	abi.IB_UVERBS_QPT_XRC_TGT: {stepPeer | stepResponder, abi.IB_QP_SQ_PSN | abi.IB_QP_TIMEOUT},
}

const (
	stepPeer      = abi.IB_QP_AV | abi.IB_QP_PATH_MTU | abi.IB_QP_DEST_QPN | abi.IB_QP_RQ_PSN
	stepResponder = abi.IB_QP_MAX_DEST_RD_ATOMIC | abi.IB_QP_MIN_RNR_TIMER
	stepRequester = abi.IB_QP_TIMEOUT | abi.IB_QP_RETRY_CNT | abi.IB_QP_RNR_RETRY | abi.IB_QP_MAX_QP_RD_ATOMIC
)

// ToError takes the queue pair to ERR from any state (MODIFY_QP): what is posted
// completes with IB_WC_WR_FLUSH_ERR. The error is that of Modify.
func (qp *QP) ToError() error {
	return qp.Modify(QPAttr{State: abi.IB_QPS_ERR}, abi.IB_QP_STATE)
}

// ToReset takes the queue pair to RESET from any state (MODIFY_QP); what is
// posted is forgotten, and what has completed stays in the completion queues.
// The error is that of Modify.
func (qp *QP) ToReset() error {
	return qp.Modify(QPAttr{State: abi.IB_QPS_RESET}, abi.IB_QP_STATE)
}

// NewPSN returns a random packet sequence number to start with, so that packets
// of an earlier connection are not taken for those of a new one.
func NewPSN() uint32 { return rand.Uint32() & 0xffffff }
