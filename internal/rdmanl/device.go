package rdmanl

import (
	"context"
	"fmt"
	"strings"

	"github.com/purerdma/rdma/abi"
)

// Device is what RDMA_NLDEV_CMD_GET tells about a device. Fields that the kernel did
// not send are zero.
type Device struct {
	Index uint32
	Name  string
	// Ports is the number of the last port: the number of ports, or 0 for a switch.
	Ports           uint32
	CapFlags        uint64
	FirmwareVersion string
	// NodeGUID and SysImageGUID are in host byte order.
	NodeGUID, SysImageGUID uint64
	NodeType               uint8
	// Protocol is "ib", "roce", "iw", "opa" or "usnic", that of the first port.
	Protocol string
	// Parent is the name of the device that a sub-device belongs to (kernel 6.11).
	Parent string
}

// Devices lists the devices that the socket's network namespace shows.
func (c *Client) Devices(ctx context.Context) ([]Device, error) {
	payloads, err := c.ask(ctx, abi.RDMA_NLDEV_CMD_GET, true, nil)
	if err != nil {
		return nil, wrap("GET", "", err)
	}
	out := make([]Device, 0, len(payloads))
	for _, p := range payloads {
		d, err := decodeDevice(p)
		if err != nil {
			return nil, wrap("GET", "", err)
		}
		out = append(out, d)
	}
	return out, nil
}

// Device asks for one device. An index that does not exist, or that this network
// namespace does not show, gives EINVAL (nldev_get_doit).
func (c *Client) Device(ctx context.Context, index int) (Device, error) {
	var d Device
	err := c.one(ctx, abi.RDMA_NLDEV_CMD_GET, []attr{devIndex(index)}, d.attr)
	return d, wrap("GET", deviceObject(index), err)
}

func decodeDevice(b []byte) (Device, error) {
	var d Device
	err := forEachAttr(b, d.attr)
	return d, err
}

func (d *Device) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_DEV_INDEX:
		return a.u32(&d.Index)
	case abi.RDMA_NLDEV_ATTR_DEV_NAME:
		return a.str(&d.Name)
	case abi.RDMA_NLDEV_ATTR_PORT_INDEX:
		return a.u32(&d.Ports)
	case abi.RDMA_NLDEV_ATTR_CAP_FLAGS:
		return a.u64(&d.CapFlags)
	case abi.RDMA_NLDEV_ATTR_FW_VERSION:
		err := a.str(&d.FirmwareVersion)
		d.FirmwareVersion = strings.TrimSpace(d.FirmwareVersion) // some drivers end it as a line of sysfs
		return err
	case abi.RDMA_NLDEV_ATTR_NODE_GUID:
		return a.u64(&d.NodeGUID)
	case abi.RDMA_NLDEV_ATTR_SYS_IMAGE_GUID:
		return a.u64(&d.SysImageGUID)
	case abi.RDMA_NLDEV_ATTR_DEV_NODE_TYPE:
		return a.u8(&d.NodeType)
	case abi.RDMA_NLDEV_ATTR_DEV_PROTOCOL:
		return a.str(&d.Protocol)
	case abi.RDMA_NLDEV_ATTR_PARENT_NAME:
		return a.str(&d.Parent)
	}
	return nil
}

// Port is what RDMA_NLDEV_CMD_PORT_GET tells about a port. Subnet prefix, LIDs, LMC
// and capability flags come for InfiniBand ports only (fill_port_info).
type Port struct {
	Number       uint32
	CapFlags     uint64
	SubnetPrefix uint64
	LID, SMLID   uint32
	LMC          uint8
	State        uint8
	PhysState    uint8
	// NetdevIndex and Netdev are empty when the netdev is in another namespace.
	NetdevIndex uint32
	Netdev      string
}

// Port asks for one port. Ports are asked for one by one, because in a dump the first
// port that fails hides the rest.
func (c *Client) Port(ctx context.Context, index, port int) (Port, error) {
	var p Port
	number := putU32(uint16(abi.RDMA_NLDEV_ATTR_PORT_INDEX), uint32(port))
	err := c.one(ctx, abi.RDMA_NLDEV_CMD_PORT_GET, []attr{devIndex(index), number}, p.attr)
	return p, wrap("PORT_GET", fmt.Sprintf("device %d port %d", index, port), err)
}

func (p *Port) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_PORT_INDEX:
		return a.u32(&p.Number)
	case abi.RDMA_NLDEV_ATTR_CAP_FLAGS:
		return a.u64(&p.CapFlags)
	case abi.RDMA_NLDEV_ATTR_SUBNET_PREFIX:
		return a.u64(&p.SubnetPrefix)
	case abi.RDMA_NLDEV_ATTR_LID:
		return a.u32(&p.LID)
	case abi.RDMA_NLDEV_ATTR_SM_LID:
		return a.u32(&p.SMLID)
	case abi.RDMA_NLDEV_ATTR_LMC:
		return a.u8(&p.LMC)
	case abi.RDMA_NLDEV_ATTR_PORT_STATE:
		return a.u8(&p.State)
	case abi.RDMA_NLDEV_ATTR_PORT_PHYS_STATE:
		return a.u8(&p.PhysState)
	case abi.RDMA_NLDEV_ATTR_NDEV_INDEX:
		return a.u32(&p.NetdevIndex)
	case abi.RDMA_NLDEV_ATTR_NDEV_NAME:
		return a.str(&p.Netdev)
	}
	return nil
}
