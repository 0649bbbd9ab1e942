package uverbs

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/abi"
)

// ErrNoDevice is matched by errors about an RDMA device that does not exist, or that
// this network namespace does not show.
var ErrNoDevice = errors.New("no such RDMA device")

// Device is one RDMA device as discovery found it. It is a snapshot: state changes
// after [Devices] returned do not show. Methods are safe for concurrent use.
type Device struct {
	// Index identifies the device until it is removed; names can change. It is the
	// number that the connection manager reports for a resolved or accepted
	// connection. -1 when discovery had to use sysfs, which does not tell it.
	Index int
	// Name is the kernel's name, e.g. "rxe0" or "mlx5_0".
	Name string
	// NodeGUID and SysImageGUID identify the device and the system (card) it is part
	// of. Zero means not set: soft devices on some netdevs have none.
	NodeGUID, SysImageGUID GUID
	// FirmwareVersion is empty for soft devices.
	FirmwareVersion string
	NodeType        NodeType
	// Protocol is that of the first port.
	Protocol Protocol
	// DriverID names the kernel driver; RDMA_DRIVER_UNKNOWN (0) when the kernel did
	// not tell, for instance because module ib_uverbs is not loaded.
	DriverID abi.RDMADriverID
	// CapFlags are the device capability flags as the kernel reports them in netlink;
	// 0 when discovery used sysfs.
	CapFlags uint64
	// Ports has one entry per port, in the order of their numbers.
	Ports []PortInfo
	// CharDev is the verbs character device.
	CharDev CharDev
	// Source tells how the device was found: "netlink" or "sysfs".
	Source string
	// Problems holds what could not be found out about this device. The fields
	// concerned are zero.
	Problems []error

	host *host
}

// PortInfo is the state of a port as far as it can be read without opening the device.
// The path MTU is not among it: the kernel tells it only through the open device.
type PortInfo struct {
	// Number is the port number, from 1 (0 for a switch).
	Number int
	State  PortState
	Phys   PhysState
	// LinkLayer is LinkEthernet for RoCE and iWARP.
	LinkLayer LinkLayer
	// LID, SMLID and LMC are set on InfiniBand ports only.
	LID, SMLID uint32
	LMC        uint8
	// SubnetPrefix is the upper half of an InfiniBand port's GIDs.
	SubnetPrefix uint64
	// CapFlags are the port capability flags of an InfiniBand port.
	CapFlags uint64
	// Netdev is the network device the port belongs to, when it is in the caller's
	// network namespace; empty otherwise. NetdevIndex is its interface index or 0.
	Netdev      string
	NetdevIndex int
	// NetdevMTU is the MTU of Netdev in bytes, 0 when not known.
	NetdevMTU int
	// SpeedMbps is the signalling speed in Mbit/s as sysfs tells it, Width the number
	// of lanes; 0 when not known.
	SpeedMbps int
	Width     int
}

// CharDev describes the character device that gives access to an RDMA device.
type CharDev struct {
	// Name is the kernel's name of the node, e.g. "uverbs0"; empty when the kernel
	// has none for the device (module ib_uverbs is not loaded).
	Name string
	// Path is where the node is, or should be: normally /dev/infiniband/Name.
	Path string
	// Major and Minor are the numbers that the node at Path must have.
	Major, Minor uint32
	// ABIVersion is the version of the driver's private interface (not of verbs).
	ABIVersion int
}

// Exists reports whether the kernel has a character device for the RDMA device. That
// the node is present and may be opened is what [Device.Usability] finds out.
func (c CharDev) Exists() bool { return c.Name != "" }

// String returns path and numbers, e.g. "/dev/infiniband/uverbs0 (231:192)".
func (c CharDev) String() string {
	if !c.Exists() {
		return "no character device"
	}
	return fmt.Sprintf("%s (%d:%d)", c.Path, c.Major, c.Minor)
}

// Driver returns the short name of the kernel driver; see [DriverName].
func (d *Device) Driver() string { return DriverName(d.DriverID) }

// String returns the device's name.
func (d *Device) String() string { return d.Name }

// Port returns the port with the given number.
func (d *Device) Port(number int) (PortInfo, bool) {
	for _, p := range d.Ports {
		if p.Number == number {
			return p, true
		}
	}
	return PortInfo{}, false
}

// Devices lists the RDMA devices that this network namespace shows, in the order of
// their index. It asks RDMA netlink (RDMA_NLDEV_CMD_GET, PORT_GET, GET_CHARDEV) and,
// where that is not available, sysfs. A machine without RDMA has no devices, which is
// not an error; [Diagnose] tells what is missing. A device about which something could
// not be found out is listed with Problems set and does not hide the others.
//
// Asking for the character device makes the kernel load module ib_uverbs if it can.
// No privilege is needed.
func Devices() ([]*Device, error) { return realHost().devices(nil) }

// DeviceByName finds a device by its current name. The error matches [ErrNoDevice] if
// there is none.
func DeviceByName(name string) (*Device, error) { return realHost().byName(name) }

// DeviceByIndex finds a device by the index that the connection manager reports. The
// error matches [ErrNoDevice] if there is none, and errors.ErrUnsupported if only
// sysfs is available, which has no indexes.
func DeviceByIndex(index int) (*Device, error) { return realHost().byIndex(index) }

// DeviceByGUID finds a device by its node GUID. Node GUIDs need not be unique: if
// several devices have it, the one with the lowest index is returned. The error
// matches [ErrNoDevice] if there is none.
func DeviceByGUID(guid GUID) (*Device, error) { return realHost().byGUID(guid) }
