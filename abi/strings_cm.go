// This file holds the texts of connection management values.

package abi

// UCMCommand is a command of the rdma_cm device, one of the untyped constants
// RDMA_USER_CM_CMD_*, for printing.
type UCMCommand uint32

// String returns the kernel's name without its prefix, such as "CREATE_ID".
func (c UCMCommand) String() string { return nameOf(ucmCommandNames[:], "UCMCommand", uint64(c)) }

var ucmCommandNames = [...]string{
	RDMA_USER_CM_CMD_CREATE_ID:          "CREATE_ID",
	RDMA_USER_CM_CMD_DESTROY_ID:         "DESTROY_ID",
	RDMA_USER_CM_CMD_BIND_IP:            "BIND_IP",
	RDMA_USER_CM_CMD_RESOLVE_IP:         "RESOLVE_IP",
	RDMA_USER_CM_CMD_RESOLVE_ROUTE:      "RESOLVE_ROUTE",
	RDMA_USER_CM_CMD_QUERY_ROUTE:        "QUERY_ROUTE",
	RDMA_USER_CM_CMD_CONNECT:            "CONNECT",
	RDMA_USER_CM_CMD_LISTEN:             "LISTEN",
	RDMA_USER_CM_CMD_ACCEPT:             "ACCEPT",
	RDMA_USER_CM_CMD_REJECT:             "REJECT",
	RDMA_USER_CM_CMD_DISCONNECT:         "DISCONNECT",
	RDMA_USER_CM_CMD_INIT_QP_ATTR:       "INIT_QP_ATTR",
	RDMA_USER_CM_CMD_GET_EVENT:          "GET_EVENT",
	RDMA_USER_CM_CMD_GET_OPTION:         "GET_OPTION",
	RDMA_USER_CM_CMD_SET_OPTION:         "SET_OPTION",
	RDMA_USER_CM_CMD_NOTIFY:             "NOTIFY",
	RDMA_USER_CM_CMD_JOIN_IP_MCAST:      "JOIN_IP_MCAST",
	RDMA_USER_CM_CMD_LEAVE_MCAST:        "LEAVE_MCAST",
	RDMA_USER_CM_CMD_MIGRATE_ID:         "MIGRATE_ID",
	RDMA_USER_CM_CMD_QUERY:              "QUERY",
	RDMA_USER_CM_CMD_BIND:               "BIND",
	RDMA_USER_CM_CMD_RESOLVE_ADDR:       "RESOLVE_ADDR",
	RDMA_USER_CM_CMD_JOIN_MCAST:         "JOIN_MCAST",
	RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE: "RESOLVE_IB_SERVICE",
	RDMA_USER_CM_CMD_WRITE_CM_EVENT:     "WRITE_CM_EVENT",
}

// String returns the kernel's name without its prefix, such as "ADDR_RESOLVED".
func (e RDMACMEventType) String() string {
	return nameOf(cmEventNames[:], "RDMACMEventType", uint64(e))
}

var cmEventNames = [...]string{
	RDMA_CM_EVENT_ADDR_RESOLVED:     "ADDR_RESOLVED",
	RDMA_CM_EVENT_ADDR_ERROR:        "ADDR_ERROR",
	RDMA_CM_EVENT_ROUTE_RESOLVED:    "ROUTE_RESOLVED",
	RDMA_CM_EVENT_ROUTE_ERROR:       "ROUTE_ERROR",
	RDMA_CM_EVENT_CONNECT_REQUEST:   "CONNECT_REQUEST",
	RDMA_CM_EVENT_CONNECT_RESPONSE:  "CONNECT_RESPONSE",
	RDMA_CM_EVENT_CONNECT_ERROR:     "CONNECT_ERROR",
	RDMA_CM_EVENT_UNREACHABLE:       "UNREACHABLE",
	RDMA_CM_EVENT_REJECTED:          "REJECTED",
	RDMA_CM_EVENT_ESTABLISHED:       "ESTABLISHED",
	RDMA_CM_EVENT_DISCONNECTED:      "DISCONNECTED",
	RDMA_CM_EVENT_DEVICE_REMOVAL:    "DEVICE_REMOVAL",
	RDMA_CM_EVENT_MULTICAST_JOIN:    "MULTICAST_JOIN",
	RDMA_CM_EVENT_MULTICAST_ERROR:   "MULTICAST_ERROR",
	RDMA_CM_EVENT_ADDR_CHANGE:       "ADDR_CHANGE",
	RDMA_CM_EVENT_TIMEWAIT_EXIT:     "TIMEWAIT_EXIT",
	RDMA_CM_EVENT_ADDRINFO_RESOLVED: "ADDRINFO_RESOLVED",
	RDMA_CM_EVENT_ADDRINFO_ERROR:    "ADDRINFO_ERROR",
	RDMA_CM_EVENT_USER:              "USER",
	RDMA_CM_EVENT_INTERNAL:          "INTERNAL",
}

// String returns the kernel's name without its prefix, such as "TCP".
func (s RDMAUCMPortSpace) String() string {
	switch s {
	case RDMA_PS_IPOIB:
		return "IPOIB"
	case RDMA_PS_IB:
		return "IB"
	case RDMA_PS_TCP:
		return "TCP"
	case RDMA_PS_UDP:
		return "UDP"
	}
	return nameOf(nil, "RDMAUCMPortSpace", uint64(s))
}

// String returns what the status means.
func (s IBCMSidrStatus) String() string {
	return nameOf(sidrStatusNames[:], "IBCMSidrStatus", uint64(s))
}

var sidrStatusNames = [...]string{
	IB_SIDR_SUCCESS:             "success",
	IB_SIDR_UNSUPPORTED:         "service ID not supported",
	IB_SIDR_REJECT:              "rejected by the service",
	IB_SIDR_NO_QP:               "no QP available",
	IB_SIDR_REDIRECT:            "redirected",
	IB_SIDR_UNSUPPORTED_VERSION: "version not supported",
}
