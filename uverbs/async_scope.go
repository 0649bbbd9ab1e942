package uverbs

import "github.com/purerdma/rdma/abi"

// Scope is what an asynchronous event concerns.
type Scope uint8

// Scopes of events.
const (
	ScopeUnknown Scope = iota // an event that this module does not know
	ScopeDevice               // the whole device: IB_EVENT_DEVICE_FATAL
	ScopePort
	ScopeCQ
	ScopeQP
	ScopeSRQ
	ScopeWQ
)

// String returns "device", "port", "CQ", "QP", "SRQ", "WQ" or "unknown".
func (s Scope) String() string {
	names := [...]string{"unknown", "device", "port", "CQ", "QP", "SRQ", "WQ"}
	if int(s) >= len(names) {
		s = ScopeUnknown
	}
	return names[s]
}

// scopes tells for each event what the number that comes with it names
// (ib_uverbs_async_event_desc, and the handlers that make it).
var scopes = [...]Scope{
	abi.IB_EVENT_CQ_ERR:              ScopeCQ,
	abi.IB_EVENT_QP_FATAL:            ScopeQP,
	abi.IB_EVENT_QP_REQ_ERR:          ScopeQP,
	abi.IB_EVENT_QP_ACCESS_ERR:       ScopeQP,
	abi.IB_EVENT_COMM_EST:            ScopeQP,
	abi.IB_EVENT_SQ_DRAINED:          ScopeQP,
	abi.IB_EVENT_PATH_MIG:            ScopeQP,
	abi.IB_EVENT_PATH_MIG_ERR:        ScopeQP,
	abi.IB_EVENT_QP_LAST_WQE_REACHED: ScopeQP,
	abi.IB_EVENT_SRQ_ERR:             ScopeSRQ,
	abi.IB_EVENT_SRQ_LIMIT_REACHED:   ScopeSRQ,
	abi.IB_EVENT_WQ_FATAL:            ScopeWQ,
	abi.IB_EVENT_DEVICE_FATAL:        ScopeDevice,
	abi.IB_EVENT_PORT_ACTIVE:         ScopePort,
	abi.IB_EVENT_PORT_ERR:            ScopePort,
	abi.IB_EVENT_LID_CHANGE:          ScopePort,
	abi.IB_EVENT_PKEY_CHANGE:         ScopePort,
	abi.IB_EVENT_SM_CHANGE:           ScopePort,
	abi.IB_EVENT_CLIENT_REREGISTER:   ScopePort,
	abi.IB_EVENT_GID_CHANGE:          ScopePort,
	abi.IB_EVENT_DEVICE_SPEED_CHANGE: ScopePort,
}

// Scope returns what the event concerns, also where the object is closed
// already and the field for it is nil.
func (e AsyncEvent) Scope() Scope {
	if int(e.Type) >= len(scopes) {
		return ScopeUnknown
	}
	return scopes[e.Type]
}
