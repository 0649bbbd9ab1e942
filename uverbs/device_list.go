package uverbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/purerdma/rdma/internal/rdmanl"
)

// devices lists the devices that want accepts; nil accepts all. want sees a device
// with index, name and GUIDs only, so that the rest is not asked for in vain.
func (h *host) devices(want func(*Device) bool) ([]*Device, error) {
	ctx, cancel := context.WithTimeout(context.Background(), discoveryTimeout)
	defer cancel()
	devs, nlErr := h.netlinkDevices(ctx, want)
	if nlErr == nil {
		return devs, nil
	}
	devs, sysErr := h.sysfsDevices(want)
	switch {
	case sysErr == nil:
		return devs, nil
	case errors.Is(sysErr, fs.ErrNotExist) && noSuchProtocol(nlErr):
		return nil, nil // no RDMA in this kernel
	}
	return nil, fmt.Errorf("list RDMA devices: %w; and sysfs: %w", nlErr, sysErr)
}

// noSuchProtocol tells whether the error of opening the netlink socket means that the
// kernel has no RDMA subsystem (module ib_core registers the protocol).
func noSuchProtocol(err error) bool {
	return errors.Is(err, syscall.EPROTONOSUPPORT) || errors.Is(err, syscall.EAFNOSUPPORT)
}

func (h *host) netlinkDevices(ctx context.Context, want func(*Device) bool) ([]*Device, error) {
	c, err := h.dial()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	found, err := c.Devices(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b rdmanl.Device) int { return cmp.Compare(a.Index, b.Index) })
	var out []*Device
	for _, nd := range found {
		d := h.newDevice(nd)
		if want != nil && !want(d) {
			continue
		}
		d.fill(ctx, c, int(nd.Ports))
		if len(d.Problems) > 0 {
			// A device removed meanwhile is not a device with problems.
			if _, err := c.Device(ctx, d.Index); errors.Is(err, syscall.EINVAL) {
				continue
			}
		}
		out = append(out, d)
	}
	return out, nil
}

func (h *host) newDevice(nd rdmanl.Device) *Device {
	return &Device{
		Index:           int(nd.Index),
		Name:            nd.Name,
		NodeGUID:        GUID(nd.NodeGUID),
		SysImageGUID:    GUID(nd.SysImageGUID),
		FirmwareVersion: nd.FirmwareVersion,
		NodeType:        NodeType(nd.NodeType),
		Protocol:        Protocol(nd.Protocol),
		CapFlags:        nd.CapFlags,
		Source:          "netlink",
		host:            h,
	}
}

// fill asks for ports and character device.
func (d *Device) fill(ctx context.Context, c netlinkClient, lastPort int) {
	for _, n := range portNumbers(d.NodeType, lastPort) {
		p, err := c.Port(ctx, d.Index, n)
		if err != nil {
			d.problem("read port %d: %w", n, err)
		}
		info := PortInfo{
			Number:       n,
			State:        PortState(p.State),
			Phys:         PhysState(p.PhysState),
			LinkLayer:    d.Protocol.linkLayer(),
			LID:          p.LID,
			SMLID:        p.SMLID,
			LMC:          p.LMC,
			SubnetPrefix: p.SubnetPrefix,
			CapFlags:     p.CapFlags,
			Netdev:       p.Netdev,
			NetdevIndex:  int(p.NetdevIndex),
		}
		d.host.fillPortFromSysfs(d.Name, &info, false)
		d.host.fillMTU(&info)
		d.Ports = append(d.Ports, info)
	}
	d.fillCharDev(ctx, c)
}

// portNumbers returns the ports to ask for. A switch has only its management port 0
// (rdma_start_port in the kernel).
func portNumbers(t NodeType, last int) []int {
	if t == NodeSwitch {
		return []int{0}
	}
	// The kernel's port number type holds 32 bits; no device comes near that.
	const limit = 1024
	var out []int
	for n := 1; n <= min(last, limit); n++ {
		out = append(out, n)
	}
	return out
}

func (p Protocol) linkLayer() LinkLayer {
	switch p {
	case ProtocolIB, ProtocolOPA:
		return LinkInfiniBand
	case ProtocolRoCE, ProtocolIWARP, ProtocolUSNIC:
		return LinkEthernet
	}
	return ""
}

func (d *Device) fillCharDev(ctx context.Context, c netlinkClient) {
	cd, err := c.CharDev(ctx, d.Index, rdmanl.CharDevVerbs)
	if errors.Is(err, syscall.EOPNOTSUPP) {
		return // no module ib_uverbs; Usability explains
	}
	if err != nil {
		if !d.host.fillCharDevFromSysfs(d) {
			d.problem("find character device: %w", err)
		}
		return
	}
	d.DriverID = cd.Driver
	d.CharDev = CharDev{
		Name: cd.Name, Major: cd.Major, Minor: cd.Minor, ABIVersion: int(uint32(cd.ABI)),
		Path: d.host.nodePath(cd.Name, cd.Major, cd.Minor),
	}
}

func (d *Device) problem(format string, args ...any) {
	d.Problems = append(d.Problems, fmt.Errorf(format, args...))
}

func (h *host) byName(name string) (*Device, error) {
	return h.pick("named "+name, func(d *Device) bool { return d.Name == name })
}

func (h *host) byGUID(guid GUID) (*Device, error) {
	return h.pick("with node GUID "+guid.String(), func(d *Device) bool { return d.NodeGUID == guid })
}

func (h *host) byIndex(index int) (*Device, error) {
	sysfsOnly := false
	d, err := h.pick(fmt.Sprintf("with index %d", index), func(d *Device) bool {
		sysfsOnly = sysfsOnly || d.Index < 0
		return d.Index == index && index >= 0
	})
	if err != nil && sysfsOnly {
		return nil, fmt.Errorf("find RDMA device by index %d: RDMA netlink is not available and sysfs has no indexes: %w",
			index, errors.ErrUnsupported)
	}
	return d, err
}

// pick returns the first device that want accepts.
func (h *host) pick(what string, want func(*Device) bool) (*Device, error) {
	var names []string
	found, err := h.devices(func(d *Device) bool {
		names = append(names, d.Name)
		return want(d)
	})
	switch {
	case err != nil:
		return nil, err
	case len(found) > 0:
		return found[0], nil
	case len(names) == 0:
		return nil, fmt.Errorf("RDMA device %s: %w: there are none on this machine", what, ErrNoDevice)
	}
	return nil, fmt.Errorf("RDMA device %s: %w: there are %s", what, ErrNoDevice, strings.Join(names, ", "))
}
