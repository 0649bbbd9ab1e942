// This file holds the texts of reject reasons. Meanings are those of the
// InfiniBand specification, volume 1, section 12.6.7.2, and of the places in
// drivers/infiniband/core/{cm,cma}.c that send the reason.

package abi

import "strconv"

// String returns what the reason means, such as "invalid service ID".
func (r CMRejectReason) String() string {
	if uint64(r) < uint64(len(rejectReasons)) && rejectReasons[r].meaning != "" {
		return rejectReasons[r].meaning
	}
	return nameOf(nil, "CMRejectReason", uint64(r))
}

// Explain says in one line what usually causes the reason, for people who debug
// a connection. It is empty for a reason that says all by itself.
func (r CMRejectReason) Explain() string {
	if uint64(r) < uint64(len(rejectReasons)) {
		return rejectReasons[r].cause
	}
	return ""
}

var rejectReasons = [...]struct{ meaning, cause string }{
	IB_CM_REJ_NO_QP:                       {"no QP available", "the peer could not create a queue pair"},
	IB_CM_REJ_NO_EEC:                      {"no EE context available", ""},
	IB_CM_REJ_NO_RESOURCES:                {"no resources available", "the peer is out of memory or device objects"},
	IB_CM_REJ_TIMEOUT:                     {"timeout", "the other end gave up waiting for the next message of the handshake"},
	IB_CM_REJ_UNSUPPORTED:                 {"unsupported request", "the peer does not support what was asked for"},
	IB_CM_REJ_INVALID_COMM_ID:             {"invalid communication ID", "the peer does not know this handshake (any more)"},
	IB_CM_REJ_INVALID_COMM_INSTANCE:       {"invalid communication instance", ""},
	IB_CM_REJ_INVALID_SERVICE_ID:          {"invalid service ID", "no listener on that port"},
	IB_CM_REJ_INVALID_TRANSPORT_TYPE:      {"invalid transport service type", "the listener expects another kind of queue pair"},
	IB_CM_REJ_STALE_CONN:                  {"stale connection", "the peer still holds an old connection with this queue pair number; a new attempt normally works"},
	IB_CM_REJ_RDC_NOT_EXIST:               {"RD channel does not exist", ""},
	IB_CM_REJ_INVALID_GID:                 {"invalid primary GID", "the peer does not own the address the request was sent to"},
	IB_CM_REJ_INVALID_LID:                 {"invalid primary LID", "the peer does not own the LID the request was sent to"},
	IB_CM_REJ_INVALID_SL:                  {"invalid primary SL", ""},
	IB_CM_REJ_INVALID_TRAFFIC_CLASS:       {"invalid primary traffic class", ""},
	IB_CM_REJ_INVALID_HOP_LIMIT:           {"invalid primary hop limit", "the path crosses more routers than the peer allows"},
	IB_CM_REJ_INVALID_PACKET_RATE:         {"invalid primary packet rate", "the peer cannot take the data rate of the path"},
	IB_CM_REJ_INVALID_ALT_GID:             {"invalid alternate GID", ""},
	IB_CM_REJ_INVALID_ALT_LID:             {"invalid alternate LID", ""},
	IB_CM_REJ_INVALID_ALT_SL:              {"invalid alternate SL", ""},
	IB_CM_REJ_INVALID_ALT_TRAFFIC_CLASS:   {"invalid alternate traffic class", ""},
	IB_CM_REJ_INVALID_ALT_HOP_LIMIT:       {"invalid alternate hop limit", ""},
	IB_CM_REJ_INVALID_ALT_PACKET_RATE:     {"invalid alternate packet rate", ""},
	IB_CM_REJ_PORT_CM_REDIRECT:            {"port and CM redirection", "the peer wants the request on another port"},
	IB_CM_REJ_PORT_REDIRECT:               {"port redirection", "the peer wants the connection on another port"},
	IB_CM_REJ_INVALID_MTU:                 {"invalid path MTU", "the peer's port has a smaller MTU"},
	IB_CM_REJ_INSUFFICIENT_RESP_RESOURCES: {"insufficient responder resources", "the peer allows fewer outstanding reads and atomics"},
	IB_CM_REJ_CONSUMER_DEFINED:            {"consumer reject", "the application at the peer refused; its private data may say why"},
	IB_CM_REJ_INVALID_RNR_RETRY:           {"invalid RNR retry count", ""},
	IB_CM_REJ_DUPLICATE_LOCAL_COMM_ID:     {"duplicate local communication ID", ""},
	IB_CM_REJ_INVALID_CLASS_VERSION:       {"invalid class version", "the peer speaks another version of the CM protocol"},
	IB_CM_REJ_INVALID_FLOW_LABEL:          {"invalid primary flow label", ""},
	IB_CM_REJ_INVALID_ALT_FLOW_LABEL:      {"invalid alternate flow label", ""},
	IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED: {"vendor option not supported", "the peer refused the enhanced connection options (ECE)"},
}

// IWRejectStatus is the status of a failed connection on iWARP, where the
// kernel reports negative errno values instead of reasons: the status of
// RDMA_CM_EVENT_REJECTED and RDMA_CM_EVENT_UNREACHABLE (cma_iw_handler in
// drivers/infiniband/core/cma.c).
type IWRejectStatus int32

// Values of IWRejectStatus; drivers may report others.
const (
	IWRejectReset   IWRejectStatus = -104 // ECONNRESET
	IWRejectTimeout IWRejectStatus = -110 // ETIMEDOUT
	IWRejectRefused IWRejectStatus = -111 // ECONNREFUSED
)

// String returns what the status means.
func (s IWRejectStatus) String() string {
	switch s {
	case IWRejectReset:
		return "connection reset by peer"
	case IWRejectTimeout:
		return "connection timed out"
	case IWRejectRefused:
		return "connection refused by peer"
	}
	return "IWRejectStatus(" + strconv.Itoa(int(s)) + ")"
}
