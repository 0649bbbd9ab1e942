package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/purerdma/rdma/uverbs"
)

// The demo's addresses come from ranges that no network should use: the one
// for benchmarks (RFC 2544), and a unique local prefix. Each demo takes the
// first number whose names and addresses are free.
const (
	demoNetdev  = "rpdemo" // and the number; the peer has a "p" after it
	maxDemos    = 100
	ifaFNoDAD   = 0x02 // IFA_F_NODAD: usable at once, nobody else is on the link
	gidDeadline = 5 * time.Second
)

func demoAddresses(n int) (v4, v6 netip.Addr) {
	v4 = netip.AddrFrom4([4]byte{198, 18, 74, byte(n + 1)})
	return v4, netip.MustParseAddr("fd72:7064:656d:6f00::" + strconv.FormatInt(int64(n+1), 16))
}

// useDevice picks an address of a device that exists.
func (d *demo) useDevice() error {
	const step = "find device"
	for _, dev := range d.sys.diagnose().Devices {
		if dev.Name != d.device {
			continue
		}
		ip, port := d.pickAddress(dev)
		if !ip.IsValid() {
			return &failure{step: step, object: d.device,
				err:    fmt.Errorf("no active port with an %s address: %w", d.family(), uverbs.ErrNoDevice),
				remedy: "rdmaprobe list shows ports and addresses; give its network device an address and bring it up"}
		}
		d.address = ip
		d.heading()
		d.step("setup", step, 0, "%s, port %d, %s", dev.Name, port, ip)
		return nil
	}
	return &failure{step: step, object: d.device, err: uverbs.ErrNoDevice, remedy: "rdmaprobe list shows what there is"}
}

// pickAddress returns the first address of the wanted family on an active
// port, and a link-local one only when there is no other.
func (d *demo) pickAddress(dev *uverbs.Device) (ip netip.Addr, port int) {
	for _, p := range dev.Ports {
		if p.State != uverbs.PortActive {
			continue
		}
		for _, a := range d.portAddresses(dev, p) {
			got, err := netip.ParseAddr(a)
			if err != nil || got.Is6() != d.ipv6 {
				continue
			}
			if !got.IsLinkLocalUnicast() {
				return got, p.Number
			}
			if !ip.IsValid() {
				ip, port = got, p.Number
			}
		}
	}
	return ip, port
}

func (d *demo) family() string {
	if d.ipv6 {
		return "IPv6"
	}
	return "IPv4"
}

// mayMake finds out whether it makes sense to start: what is missing in the
// kernel counts more than missing rights.
func (d *demo) mayMake() error {
	diag := d.sys.diagnose()
	if len(diag.Devices) == 0 && noRDMA(diag.NetlinkErr) {
		return &failure{step: "look for RDMA in the kernel", object: "kernel " + diag.Kernel,
			err: uverbs.ErrNoDevice, remedy: "see what is missing, below; scripts/demo of the project runs this in a virtual machine"}
	}
	if os.Geteuid() == 0 {
		return nil
	}
	remedy := "run it as root: sudo rdmaprobe demo"
	for i, u := range diag.Usability {
		if u.OK() {
			remedy += "; or use a device that exists: rdmaprobe demo --device " + diag.Devices[i].Name
			break
		}
	}
	return &failure{step: "check rights", object: "user " + strconv.Itoa(os.Geteuid()), remedy: remedy,
		err: fmt.Errorf("making network and soft-RoCE devices takes root: %w", fs.ErrPermission)}
}

// noRDMA: the kernel has no RDMA netlink, so module ib_core is not there.
func noRDMA(netlinkErr error) bool {
	return errors.Is(netlinkErr, syscall.EPROTONOSUPPORT) || errors.Is(netlinkErr, syscall.EAFNOSUPPORT) ||
		errors.Is(netlinkErr, errors.ErrUnsupported)
}

// make makes the network and the soft-RoCE device.
func (d *demo) make(ctx context.Context) error {
	start := time.Now()
	name, err := d.makeVeth()
	if err != nil {
		return &failure{step: "make veth pair", object: name, err: err,
			remedy: "module veth must be in the kernel (modprobe veth), and the process needs CAP_NET_ADMIN"}
	}
	d.step("setup", "make veth pair", time.Since(start), "%s with %s", name, d.address)
	start = time.Now()
	dev, err := d.sys.addLink(ctx, uverbs.LinkConfig{Netdev: name})
	if err != nil {
		return err
	}
	d.doc.Created, d.doc.Device = true, dev.Name
	d.undo = append(d.undo, undoStep{dev.Name, func(ctx context.Context) error { return d.sys.deleteLink(ctx, dev.Name) }})
	if err := d.waitReady(ctx, dev.Name); err != nil {
		return err
	}
	d.step("setup", "add rxe", time.Since(start), "%s on %s, %s", dev.Name, name, dev.CharDev)
	return nil
}

// makeVeth makes a pair with the first free number, up and with an address.
func (d *demo) makeVeth() (string, error) {
	used := d.sys.addresses()
	for n := range maxDemos {
		v4, v6 := demoAddresses(n)
		name := demoNetdev + strconv.Itoa(n)
		if hasAddress(used, v4) || hasAddress(used, v6) {
			continue
		}
		attrs := netlink.NewLinkAttrs()
		attrs.Name = name
		err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: name + "p"})
		if errors.Is(err, syscall.EEXIST) {
			continue
		}
		if err != nil {
			return name, err
		}
		d.undo = append(d.undo, undoStep{name, func(context.Context) error { return deleteNetdev(name) }})
		d.address = v4
		if d.ipv6 {
			d.address = v6
		}
		return name, bringUp(name, d.address)
	}
	return demoNetdev, fmt.Errorf("all %d names and addresses are taken: %w", maxDemos, syscall.EEXIST)
}

func hasAddress(used map[string][]netip.Addr, ip netip.Addr) bool {
	for _, list := range used {
		if slices.Contains(list, ip) {
			return true
		}
	}
	return false
}

// bringUp gives both ends of the pair their state before there is an RDMA
// device: a connection attempt while it is down would break rxe's connection
// manager.
func bringUp(name string, ip netip.Addr) error {
	for _, n := range []string{name + "p", name} {
		link, err := netlink.LinkByName(n)
		if err != nil {
			return err
		}
		if err := netlink.LinkSetUp(link); err != nil {
			return err
		}
		if n != name {
			continue
		}
		addr := &netlink.Addr{IPNet: &net.IPNet{IP: ip.AsSlice(), Mask: net.CIDRMask(ip.BitLen(), ip.BitLen())}}
		if ip.Is6() {
			addr.Flags = ifaFNoDAD
		}
		if err := netlink.AddrAdd(link, addr); err != nil {
			return fmt.Errorf("add address %v: %w", ip, err)
		}
	}
	return nil
}

func deleteNetdev(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	return netlink.LinkDel(link)
}

// waitReady waits for the GID of the address, which the kernel adds in the
// background, and for the port.
func (d *demo) waitReady(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, gidDeadline)
	defer cancel()
	for {
		dev, err := uverbs.DeviceByName(name)
		if err != nil {
			return &failure{step: "add rxe", object: name, err: err}
		}
		if len(dev.Ports) > 0 && dev.Ports[0].State == uverbs.PortActive &&
			slices.Contains(d.portAddresses(dev, dev.Ports[0]), d.address.String()) {
			return nil
		}
		select {
		case <-ctx.Done():
			return &failure{step: "wait for the GID of " + d.address.String(), object: name, err: ctx.Err()}
		case <-time.After(5 * time.Millisecond):
		}
	}
}
