// This file holds the texts of device and port values.

package abi

// RDMANodeType is the kind of a device, one of the untyped constants
// RDMA_NODE_*, for printing.
type RDMANodeType uint32

// String returns the kind in words, such as "channel adapter".
func (t RDMANodeType) String() string { return nameOf(nodeTypeNames[:], "RDMANodeType", uint64(t)) }

var nodeTypeNames = [...]string{
	RDMA_NODE_IB_CA:       "channel adapter",
	RDMA_NODE_IB_SWITCH:   "switch",
	RDMA_NODE_IB_ROUTER:   "router",
	RDMA_NODE_RNIC:        "iWARP NIC",
	RDMA_NODE_USNIC:       "usNIC",
	RDMA_NODE_USNIC_UDP:   "usNIC UDP",
	RDMA_NODE_UNSPECIFIED: "unspecified",
}

// String returns the name of the transport.
func (t RDMATransportType) String() string {
	return nameOf(transportNames[:], "RDMATransportType", uint64(t))
}

var transportNames = [...]string{
	RDMA_TRANSPORT_IB:          "InfiniBand",
	RDMA_TRANSPORT_IWARP:       "iWARP",
	RDMA_TRANSPORT_USNIC:       "usNIC",
	RDMA_TRANSPORT_USNIC_UDP:   "usNIC UDP",
	RDMA_TRANSPORT_UNSPECIFIED: "unspecified",
}

// String returns the name sysfs uses, such as "Ethernet".
func (l RDMALinkLayer) String() string { return nameOf(linkLayerNames[:], "RDMALinkLayer", uint64(l)) }

var linkLayerNames = [...]string{
	IB_LINK_LAYER_UNSPECIFIED: "Unspecified",
	IB_LINK_LAYER_INFINIBAND:  "InfiniBand",
	IB_LINK_LAYER_ETHERNET:    "Ethernet",
}

// String returns the name of the kernel driver, such as "rxe" or "mlx5".
func (d RDMADriverID) String() string { return nameOf(driverNames[:], "RDMADriverID", uint64(d)) }

var driverNames = [...]string{
	RDMA_DRIVER_UNKNOWN:    "unknown",
	RDMA_DRIVER_MLX5:       "mlx5",
	RDMA_DRIVER_MLX4:       "mlx4",
	RDMA_DRIVER_CXGB3:      "cxgb3",
	RDMA_DRIVER_CXGB4:      "cxgb4",
	RDMA_DRIVER_MTHCA:      "mthca",
	RDMA_DRIVER_BNXT_RE:    "bnxt_re",
	RDMA_DRIVER_OCRDMA:     "ocrdma",
	RDMA_DRIVER_NES:        "nes",
	RDMA_DRIVER_IRDMA:      "irdma",
	RDMA_DRIVER_VMW_PVRDMA: "vmw_pvrdma",
	RDMA_DRIVER_QEDR:       "qedr",
	RDMA_DRIVER_HNS:        "hns",
	RDMA_DRIVER_USNIC:      "usnic",
	RDMA_DRIVER_RXE:        "rxe",
	RDMA_DRIVER_HFI1:       "hfi1",
	RDMA_DRIVER_QIB:        "qib",
	RDMA_DRIVER_EFA:        "efa",
	RDMA_DRIVER_SIW:        "siw",
	RDMA_DRIVER_ERDMA:      "erdma",
	RDMA_DRIVER_MANA:       "mana",
	RDMA_DRIVER_IONIC:      "ionic",
}

// String returns the name sysfs uses, such as "ACTIVE".
func (s IBPortState) String() string { return nameOf(portStateNames[:], "IBPortState", uint64(s)) }

var portStateNames = [...]string{
	IB_PORT_NOP:          "NOP",
	IB_PORT_DOWN:         "DOWN",
	IB_PORT_INIT:         "INIT",
	IB_PORT_ARMED:        "ARMED",
	IB_PORT_ACTIVE:       "ACTIVE",
	IB_PORT_ACTIVE_DEFER: "ACTIVE_DEFER",
}

// String returns the name sysfs uses, such as "LinkUp".
func (s IBPortPhysState) String() string {
	return nameOf(physStateNames[:], "IBPortPhysState", uint64(s))
}

var physStateNames = [...]string{
	IB_PORT_PHYS_STATE_SLEEP:                       "Sleep",
	IB_PORT_PHYS_STATE_POLLING:                     "Polling",
	IB_PORT_PHYS_STATE_DISABLED:                    "Disabled",
	IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING: "PortConfigurationTraining",
	IB_PORT_PHYS_STATE_LINK_UP:                     "LinkUp",
	IB_PORT_PHYS_STATE_LINK_ERROR_RECOVERY:         "LinkErrorRecovery",
	IB_PORT_PHYS_STATE_PHY_TEST:                    "PhyTest",
}

// String returns the name of the GID type. sysfs writes "IB/RoCE v1" for the first two.
func (t IBUverbsGIDType) String() string {
	return nameOf(gidTypeNames[:], "IBUverbsGIDType", uint64(t))
}

var gidTypeNames = [...]string{
	IB_UVERBS_GID_TYPE_IB:      "IB",
	IB_UVERBS_GID_TYPE_ROCE_V1: "RoCE v1",
	IB_UVERBS_GID_TYPE_ROCE_V2: "RoCE v2",
}

// String returns the kernel's name without its prefix.
func (c IBAtomicCap) String() string { return nameOf(atomicCapNames[:], "IBAtomicCap", uint64(c)) }

var atomicCapNames = [...]string{
	IB_ATOMIC_NONE: "NONE",
	IB_ATOMIC_HCA:  "HCA",
	IB_ATOMIC_GLOB: "GLOB",
}

// String returns the kernel's name without its prefix, such as "PORT_ACTIVE".
func (e IBEventType) String() string { return nameOf(asyncEventNames[:], "IBEventType", uint64(e)) }

var asyncEventNames = [...]string{
	IB_EVENT_CQ_ERR:              "CQ_ERR",
	IB_EVENT_QP_FATAL:            "QP_FATAL",
	IB_EVENT_QP_REQ_ERR:          "QP_REQ_ERR",
	IB_EVENT_QP_ACCESS_ERR:       "QP_ACCESS_ERR",
	IB_EVENT_COMM_EST:            "COMM_EST",
	IB_EVENT_SQ_DRAINED:          "SQ_DRAINED",
	IB_EVENT_PATH_MIG:            "PATH_MIG",
	IB_EVENT_PATH_MIG_ERR:        "PATH_MIG_ERR",
	IB_EVENT_DEVICE_FATAL:        "DEVICE_FATAL",
	IB_EVENT_PORT_ACTIVE:         "PORT_ACTIVE",
	IB_EVENT_PORT_ERR:            "PORT_ERR",
	IB_EVENT_LID_CHANGE:          "LID_CHANGE",
	IB_EVENT_PKEY_CHANGE:         "PKEY_CHANGE",
	IB_EVENT_SM_CHANGE:           "SM_CHANGE",
	IB_EVENT_SRQ_ERR:             "SRQ_ERR",
	IB_EVENT_SRQ_LIMIT_REACHED:   "SRQ_LIMIT_REACHED",
	IB_EVENT_QP_LAST_WQE_REACHED: "QP_LAST_WQE_REACHED",
	IB_EVENT_CLIENT_REREGISTER:   "CLIENT_REREGISTER",
	IB_EVENT_GID_CHANGE:          "GID_CHANGE",
	IB_EVENT_WQ_FATAL:            "WQ_FATAL",
	IB_EVENT_DEVICE_SPEED_CHANGE: "DEVICE_SPEED_CHANGE",
}
