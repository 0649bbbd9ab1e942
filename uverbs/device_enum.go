package uverbs

import (
	"strconv"

	"github.com/purerdma/rdma/abi"
)

// NodeType is the kind of an RDMA device.
type NodeType uint8

// Node types. Unknown values of newer kernels are passed through.
const (
	NodeCA          = NodeType(abi.RDMA_NODE_IB_CA)       // InfiniBand or RoCE adapter
	NodeSwitch      = NodeType(abi.RDMA_NODE_IB_SWITCH)   // InfiniBand switch
	NodeRouter      = NodeType(abi.RDMA_NODE_IB_ROUTER)   // InfiniBand router
	NodeRNIC        = NodeType(abi.RDMA_NODE_RNIC)        // iWARP adapter
	NodeUSNIC       = NodeType(abi.RDMA_NODE_USNIC)       // Cisco usNIC
	NodeUSNICUDP    = NodeType(abi.RDMA_NODE_USNIC_UDP)   // Cisco usNIC over UDP
	NodeUnspecified = NodeType(abi.RDMA_NODE_UNSPECIFIED) // none of the above, e.g. EFA
)

var nodeTypeNames = map[NodeType]string{
	NodeCA: "CA", NodeSwitch: "switch", NodeRouter: "router", NodeRNIC: "RNIC",
	NodeUSNIC: "usNIC", NodeUSNICUDP: "usNIC UDP", NodeUnspecified: "unspecified",
}

// String returns a short name, or the number.
func (t NodeType) String() string { return nameOr(nodeTypeNames[t], "node type ", uint64(t)) }

// Protocol is what a device speaks on the wire, in the kernel's words. Unknown words
// of newer kernels are passed through; empty means not known.
type Protocol string

// Protocols.
const (
	ProtocolIB    Protocol = "ib"
	ProtocolRoCE  Protocol = "roce"
	ProtocolIWARP Protocol = "iw"
	ProtocolOPA   Protocol = "opa"
	ProtocolUSNIC Protocol = "usnic"
)

// LinkLayer is what lies below a port, in the kernel's words; empty means not known.
type LinkLayer string

// Link layers.
const (
	LinkInfiniBand LinkLayer = "InfiniBand"
	LinkEthernet   LinkLayer = "Ethernet"
)

// PortState is the logical state of a port.
type PortState uint8

// Port states.
const (
	PortNop         PortState = 0
	PortDown        PortState = 1
	PortInit        PortState = 2
	PortArmed       PortState = 3
	PortActive      PortState = 4
	PortActiveDefer PortState = 5
)

var portStateNames = map[PortState]string{
	PortNop: "NOP", PortDown: "DOWN", PortInit: "INIT", PortArmed: "ARMED",
	PortActive: "ACTIVE", PortActiveDefer: "ACTIVE_DEFER",
}

// String returns the kernel's name of the state, or the number.
func (s PortState) String() string { return nameOr(portStateNames[s], "port state ", uint64(s)) }

// PhysState is the state of a port's physical link.
type PhysState uint8

// Physical states.
const (
	PhysSleep             PhysState = 1
	PhysPolling           PhysState = 2
	PhysDisabled          PhysState = 3
	PhysTraining          PhysState = 4
	PhysLinkUp            PhysState = 5
	PhysLinkErrorRecovery PhysState = 6
	PhysPhyTest           PhysState = 7
)

var physStateNames = map[PhysState]string{
	PhysSleep: "Sleep", PhysPolling: "Polling", PhysDisabled: "Disabled",
	PhysTraining: "PortConfigurationTraining", PhysLinkUp: "LinkUp",
	PhysLinkErrorRecovery: "LinkErrorRecovery", PhysPhyTest: "Phy Test",
}

// String returns the kernel's name of the state, or the number.
func (s PhysState) String() string { return nameOr(physStateNames[s], "physical state ", uint64(s)) }

func nameOr(name, prefix string, v uint64) string {
	if name != "" {
		return name
	}
	return prefix + strconv.FormatUint(v, 10)
}

var driverNames = map[abi.RDMADriverID]string{
	abi.RDMA_DRIVER_MLX5: "mlx5", abi.RDMA_DRIVER_MLX4: "mlx4", abi.RDMA_DRIVER_CXGB3: "cxgb3",
	abi.RDMA_DRIVER_CXGB4: "cxgb4", abi.RDMA_DRIVER_MTHCA: "mthca", abi.RDMA_DRIVER_BNXT_RE: "bnxt_re",
	abi.RDMA_DRIVER_OCRDMA: "ocrdma", abi.RDMA_DRIVER_NES: "nes", abi.RDMA_DRIVER_IRDMA: "irdma",
	abi.RDMA_DRIVER_VMW_PVRDMA: "vmw_pvrdma", abi.RDMA_DRIVER_QEDR: "qedr", abi.RDMA_DRIVER_HNS: "hns",
	abi.RDMA_DRIVER_USNIC: "usnic", abi.RDMA_DRIVER_RXE: "rxe", abi.RDMA_DRIVER_HFI1: "hfi1",
	abi.RDMA_DRIVER_QIB: "qib", abi.RDMA_DRIVER_EFA: "efa", abi.RDMA_DRIVER_SIW: "siw",
	abi.RDMA_DRIVER_ERDMA: "erdma", abi.RDMA_DRIVER_MANA: "mana", abi.RDMA_DRIVER_IONIC: "ionic",
}

// DriverName returns the usual short name of a kernel driver ("rxe", "mlx5"),
// "unknown" for RDMA_DRIVER_UNKNOWN, or "driver N".
func DriverName(id abi.RDMADriverID) string {
	if id == abi.RDMA_DRIVER_UNKNOWN {
		return "unknown"
	}
	return nameOr(driverNames[id], "driver ", uint64(id))
}
