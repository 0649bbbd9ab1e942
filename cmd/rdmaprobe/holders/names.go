package holders

import (
	"strconv"

	"github.com/purerdma/rdma/abi"
)

func named(names []string, v uint32) string {
	if uint64(v) < uint64(len(names)) && names[v] != "" {
		return names[v]
	}
	return strconv.FormatUint(uint64(v), 10)
}

// qpTypes are enum ib_qp_type of the kernel (rdma/ib_verbs.h).
var qpTypes = []string{"SMI", "GSI", "RC", "UC", "UD", "RAW_IPV6", "RAW_ETHERTYPE", "", "RAW_PACKET", "XRC_INI", "XRC_TGT"}

func qpType(v uint8) string {
	if v == 0xff {
		return "DRIVER"
	}
	return named(qpTypes, uint32(v))
}

func qpState(v uint8) string {
	return named([]string{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"}, uint32(v))
}

// idStates are enum rdma_cm_state of the kernel (rdma/rdma_cm.h).
var idStates = []string{"IDLE", "ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_QUERY", "ROUTE_RESOLVED", "CONNECT", "DISCONNECT",
	"ADDR_BOUND", "LISTEN", "DEVICE_REMOVAL", "DESTROYING", "ADDRINFO_QUERY", "ADDRINFO_RESOLVED"}

func idState(v uint8) string { return named(idStates, uint32(v)) }

func portSpace(v uint32) string {
	switch abi.RDMAUCMPortSpace(v) {
	case abi.RDMA_PS_TCP:
		return "TCP"
	case abi.RDMA_PS_UDP:
		return "UDP"
	case abi.RDMA_PS_IPOIB:
		return "IPOIB"
	case abi.RDMA_PS_IB:
		return "IB"
	}
	return strconv.FormatUint(uint64(v), 10)
}
