package rdmanl

import (
	"context"
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// Kinds of character devices that the kernel can be asked for.
const (
	CharDevVerbs = "uverbs"  // one per device
	CharDevCM    = "rdma_cm" // one per machine; ask with NoIndex
	CharDevUMAD  = "umad"    // one per port of a device
)

// CharDev is what RDMA_NLDEV_CMD_GET_CHARDEV tells about a character device.
type CharDev struct {
	// Name is the name of the node without a folder, e.g. "uverbs0".
	Name         string
	Major, Minor uint32
	// ABI is the driver's ABI version for uverbs, that of the interface for others.
	ABI uint64
	// Driver is set for uverbs only. HasDriver tells whether the kernel sent it.
	Driver    abi.RDMADriverID
	HasDriver bool
}

// CharDev asks for the character device of a kind, for one device or, with NoIndex,
// for the machine. A missing module gives EOPNOTSUPP, after the kernel tried to load
// rdma-client-KIND (ib_get_client_nl_info); an index that does not exist gives EINVAL.
func (c *Client) CharDev(ctx context.Context, index int, kind string) (CharDev, error) {
	return c.charDev(ctx, index, NoIndex, kind)
}

// PortCharDev is CharDev for kinds that have one node per port ("umad").
func (c *Client) PortCharDev(ctx context.Context, index, port int, kind string) (CharDev, error) {
	return c.charDev(ctx, index, port, kind)
}

func (c *Client) charDev(ctx context.Context, index, port int, kind string) (CharDev, error) {
	var attrs []attr
	object := kind
	if index != NoIndex {
		attrs = append(attrs, devIndex(index))
		object += " of " + deviceObject(index)
	}
	if port != NoIndex {
		attrs = append(attrs, putU32(uint16(abi.RDMA_NLDEV_ATTR_PORT_INDEX), uint32(port)))
		object += fmt.Sprintf(" port %d", port)
	}
	attrs = append(attrs, putString(uint16(abi.RDMA_NLDEV_ATTR_CHARDEV_TYPE), kind))
	var d CharDev
	err := c.one(ctx, abi.RDMA_NLDEV_CMD_GET_CHARDEV, attrs, d.attr)
	if err == nil && d.Name == "" {
		err = malformed("character device without a name")
	}
	return d, wrap("GET_CHARDEV", object, err)
}

func (d *CharDev) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_CHARDEV_NAME:
		return a.str(&d.Name)
	case abi.RDMA_NLDEV_ATTR_CHARDEV_ABI:
		return a.u64(&d.ABI)
	case abi.RDMA_NLDEV_ATTR_CHARDEV:
		var dev uint64
		if err := a.u64(&dev); err != nil {
			return err
		}
		d.Major, d.Minor = splitDev(dev)
	case abi.RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID:
		var id uint32
		if err := a.u32(&id); err != nil {
			return err
		}
		d.Driver, d.HasDriver = abi.RDMADriverID(id), true
	}
	return nil
}

// splitDev undoes the kernel's huge_encode_dev: minor bits 0-7, major bits 8-19, then
// the rest of the minor.
func splitDev(dev uint64) (major, minor uint32) {
	return uint32(dev>>8) & 0xfff, uint32(dev)&0xff | uint32(dev>>12)&0xfff00
}
