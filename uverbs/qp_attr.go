package uverbs

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// AHAttr is the path to a peer: where packets go and from which local address.
type AHAttr struct {
	// DGID is the peer's GID. On RoCE it is needed; on InfiniBand only
	// between subnets.
	DGID GID

	// SGIDIndex is the slot of the own GID in the port's table.
	SGIDIndex uint8

	// Global says that DGID and SGIDIndex are used (a GRH is sent). Modify and
	// CreateAH set it when DGID is not zero.
	Global bool

	FlowLabel    uint32 // 20 bits; RoCE v2 chooses the UDP source port with it
	HopLimit     uint8  // 0 becomes 64 on paths with a GRH; on RoCE the kernel prefers what the IP route says
	TrafficClass uint8  // DSCP and ECN of RoCE v2

	DLID        uint16 // the peer's LID, InfiniBand only
	SL          uint8  // service level
	SrcPathBits uint8  // InfiniBand only
	StaticRate  uint8  // IB_RATE_…; 0 is the port's own rate

	// Port is the own port, from 1. 0 becomes QPAttr.Port, or 1.
	Port uint8
}

// QPAttr are the attributes of a queue pair. Modify looks only at those that
// its mask names.
type QPAttr struct {
	State    abi.IBQPState // IB_QP_STATE
	CurState abi.IBQPState // IB_QP_CUR_STATE: the state assumed before

	PathMTU   abi.IBMTU      // IB_QP_PATH_MTU: a code such as IB_MTU_1024
	MigState  abi.IBMigState // IB_QP_PATH_MIG_STATE
	QKey      uint32         // IB_QP_QKEY, datagrams only
	RQPSN     uint32         // IB_QP_RQ_PSN: first packet number expected, 24 bits
	SQPSN     uint32         // IB_QP_SQ_PSN: first packet number sent, 24 bits
	DestQPN   uint32         // IB_QP_DEST_QPN: the peer's queue pair number, 24 bits
	Access    Access         // IB_QP_ACCESS_FLAGS: what peers may do through this queue pair (soft-iWARP looks at regions only)
	AH        AHAttr         // IB_QP_AV
	AltAH     AHAttr         // IB_QP_ALT_PATH, with the four fields below
	AltPort   uint8
	AltPKey   uint16
	AltTmout  uint8
	PKeyIndex uint16 // IB_QP_PKEY_INDEX: slot in the port's P_Key table
	Port      uint8  // IB_QP_PORT: own port, from 1

	SQDNotify bool // IB_QP_EN_SQD_ASYNC_NOTIFY: event when drained

	// MaxRdAtomic and MaxDestRdAtomic are how many reads and atomic operations
	// may be outstanding: started by this side (IB_QP_MAX_QP_RD_ATOMIC) and by
	// the peer (IB_QP_MAX_DEST_RD_ATOMIC).
	MaxRdAtomic     uint8
	MaxDestRdAtomic uint8

	// MinRNRTimer (IB_QP_MIN_RNR_TIMER) is the code of the pause that a peer
	// is asked for when no receive is posted (IB_RNR_TIMER_…).
	MinRNRTimer uint8

	// Timeout (IB_QP_TIMEOUT) is the code of the time after which a packet
	// without acknowledgement is sent again, 4.096 µs times 2^Timeout; 0 is
	// for ever.
	Timeout uint8

	RetryCount uint8 // IB_QP_RETRY_CNT, 0 to 7: repetitions without answer
	RNRRetry   uint8 // IB_QP_RNR_RETRY, 0 to 7: repetitions while the peer has no receive posted; 7 is for ever

	RateLimit uint32 // IB_QP_RATE_LIMIT, kbit/s, raw packets only

	// Cap, SignalAll and SQDraining are filled in by Query.
	Cap        QPCap
	SignalAll  bool
	SQDraining bool
}

// defaultHopLimit is what RFC 1700 recommends for IP.
const defaultHopLimit = 64

// dest converts a path to the form of MODIFY_QP.
func (a AHAttr) dest(port uint8) abi.IBUverbsQPDest {
	if a.Port == 0 {
		a.Port = port
	}
	a.complete()
	d := abi.IBUverbsQPDest{
		Dgid: a.DGID, FlowLabel: a.FlowLabel, Dlid: a.DLID, SgidIndex: a.SGIDIndex,
		HopLimit: a.HopLimit, TrafficClass: a.TrafficClass, SL: a.SL,
		SrcPathBits: a.SrcPathBits, StaticRate: a.StaticRate, PortNum: a.Port,
	}
	if a.Global {
		d.IsGlobal = 1
	}
	return d
}

func pathFromDest(d abi.IBUverbsQPDest) AHAttr {
	return AHAttr{
		DGID: d.Dgid, SGIDIndex: d.SgidIndex, Global: d.IsGlobal != 0, FlowLabel: d.FlowLabel,
		HopLimit: d.HopLimit, TrafficClass: d.TrafficClass, DLID: d.Dlid, SL: d.SL,
		SrcPathBits: d.SrcPathBits, StaticRate: d.StaticRate, Port: d.PortNum,
	}
}

// request converts attributes to the form of MODIFY_QP.
func (a *QPAttr) request(handle uint32, mask abi.IBQPAttrMask) abi.IBUverbsModifyQP {
	m := abi.IBUverbsModifyQP{
		QPHandle: handle, AttrMask: uint32(mask), QKey: a.QKey, RQPSN: a.RQPSN, SQPSN: a.SQPSN,
		DestQPNum: a.DestQPN, QPAccessFlags: uint32(a.Access), PKeyIndex: a.PKeyIndex,
		AltPKeyIndex: a.AltPKey, QPState: uint8(a.State), CurQPState: uint8(a.CurState),
		PathMTU: uint8(a.PathMTU), PathMigState: uint8(a.MigState), MaxRdAtomic: a.MaxRdAtomic,
		MaxDestRdAtomic: a.MaxDestRdAtomic, MinRnrTimer: a.MinRNRTimer, PortNum: a.Port,
		Timeout: a.Timeout, RetryCnt: a.RetryCount, RnrRetry: a.RNRRetry,
		AltPortNum: a.AltPort, AltTimeout: a.AltTmout,
	}
	if a.SQDNotify {
		m.EnSqdAsyncNotify = 1
	}
	if mask&abi.IB_QP_AV != 0 {
		m.Dest = a.AH.dest(a.Port)
	}
	if mask&abi.IB_QP_ALT_PATH != 0 {
		m.AltDest = a.AltAH.dest(a.AltPort)
	}
	return m
}

// forDriver is what a driver may have to refuse of those attributes that mask names.
func (a *QPAttr) forDriver(mask abi.IBQPAttrMask) provider.ModifyRequest {
	return provider.ModifyRequest{
		Mask: mask, State: a.State, Access: a.Access, MigState: a.MigState, PKeyIndex: a.PKeyIndex, Port: a.Port,
		DLID: a.AH.DLID, PathBits: a.AH.SrcPathBits,
	}
}

// attrFromQuery converts the answer of QUERY_QP.
func attrFromQuery(r *abi.IBUverbsQueryQPResp) QPAttr {
	return QPAttr{
		State: abi.IBQPState(r.QPState), CurState: abi.IBQPState(r.CurQPState),
		PathMTU: abi.IBMTU(r.PathMTU), MigState: abi.IBMigState(r.PathMigState), QKey: r.QKey,
		RQPSN: r.RQPSN, SQPSN: r.SQPSN, DestQPN: r.DestQPNum, Access: Access(r.QPAccessFlags),
		AH: pathFromDest(r.Dest), AltAH: pathFromDest(r.AltDest), AltPort: r.AltPortNum,
		AltPKey: r.AltPKeyIndex, AltTmout: r.AltTimeout, PKeyIndex: r.PKeyIndex, Port: r.PortNum,
		MaxRdAtomic: r.MaxRdAtomic, MaxDestRdAtomic: r.MaxDestRdAtomic, MinRNRTimer: r.MinRnrTimer,
		Timeout: r.Timeout, RetryCount: r.RetryCnt, RNRRetry: r.RnrRetry,
		Cap: capFromKernel(abi.IBUverbsQPCap{
			MaxSendWR: r.MaxSendWR, MaxRecvWR: r.MaxRecvWR, MaxSendSGE: r.MaxSendSGE,
			MaxRecvSGE: r.MaxRecvSGE, MaxInlineData: r.MaxInlineData,
		}),
		SignalAll: r.SQSigAll != 0, SQDraining: r.SQDraining != 0,
	}
}

// QPAttrFromCM converts what the connection manager says a queue pair needs
// (ucma INIT_QP_ATTR), for programs that look at it or change it before Modify.
func QPAttrFromCM(a *abi.IBUverbsQPAttr) (QPAttr, abi.IBQPAttrMask) {
	return QPAttr{
		State: abi.IBQPState(a.QPState), CurState: abi.IBQPState(a.CurQPState),
		PathMTU: abi.IBMTU(a.PathMTU), MigState: abi.IBMigState(a.PathMigState), QKey: a.QKey,
		RQPSN: a.RQPSN, SQPSN: a.SQPSN, DestQPN: a.DestQPNum, Access: Access(a.QPAccessFlags),
		AH: AHAttrFromCM(&a.AHAttr), AltAH: AHAttrFromCM(&a.AltAHAttr), AltPort: a.AltPortNum,
		AltPKey: a.AltPKeyIndex, AltTmout: a.AltTimeout, PKeyIndex: a.PKeyIndex, Port: a.PortNum,
		SQDNotify: a.EnSqdAsyncNotify != 0, MaxRdAtomic: a.MaxRdAtomic,
		MaxDestRdAtomic: a.MaxDestRdAtomic, MinRNRTimer: a.MinRnrTimer, Timeout: a.Timeout,
		RetryCount: a.RetryCnt, RNRRetry: a.RnrRetry,
	}, abi.IBQPAttrMask(a.QPAttrMask)
}

// AHAttrFromCM converts a path that the connection manager reports, in the
// attributes of a queue pair or in the event of a datagram service.
func AHAttrFromCM(a *abi.IBUverbsAHAttr) AHAttr {
	return AHAttr{
		DGID: a.GRH.Dgid, SGIDIndex: a.GRH.SgidIndex, Global: a.IsGlobal != 0,
		FlowLabel: a.GRH.FlowLabel, HopLimit: a.GRH.HopLimit, TrafficClass: a.GRH.TrafficClass,
		DLID: a.Dlid, SL: a.SL, SrcPathBits: a.SrcPathBits, StaticRate: a.StaticRate, Port: a.PortNum,
	}
}
