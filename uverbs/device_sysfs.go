package uverbs

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/abi"
)

const (
	sysClass      = "sys/class/infiniband"
	sysVerbsClass = "sys/class/infiniband_verbs"
	devFolder     = "dev/infiniband"
)

// attribute reads a file of one line; a file that cannot be read gives "".
func attribute(elem ...string) string {
	b, err := os.ReadFile(filepath.Join(elem...))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// enumAttribute reads what sysfs writes as "4: ACTIVE".
func enumAttribute(elem ...string) uint8 {
	number, _, _ := strings.Cut(attribute(elem...), ":")
	v, _ := strconv.ParseUint(number, 10, 8)
	return uint8(v)
}

// hexAttribute reads a number with or without 0x in front. What does not fit so
// many bits gives the largest that does.
func hexAttribute(bits int, elem ...string) uint64 {
	v, _ := strconv.ParseUint(strings.TrimPrefix(attribute(elem...), "0x"), 16, bits)
	return v
}

// sysfsDevices lists devices without netlink. In exclusive namespace mode sysfs shows
// the devices of the namespace in which it was mounted.
func (h *host) sysfsDevices(want func(*Device) bool) ([]*Device, error) {
	entries, err := os.ReadDir(h.path(sysClass))
	if err != nil {
		return nil, err
	}
	var out []*Device
	for _, e := range entries {
		dir := h.path(sysClass, e.Name())
		node, _ := ParseGUID(attribute(dir, "node_guid"))
		image, _ := ParseGUID(attribute(dir, "sys_image_guid"))
		d := &Device{
			Index:           -1,
			Name:            e.Name(),
			NodeGUID:        node,
			SysImageGUID:    image,
			FirmwareVersion: attribute(dir, "fw_ver"),
			NodeType:        NodeType(enumAttribute(dir, "node_type")),
			DriverID:        sysfsDriver(dir),
			Source:          "sysfs",
			host:            h,
		}
		if want != nil && !want(d) {
			continue
		}
		d.fillFromSysfs(dir)
		out = append(out, d)
	}
	return out, nil
}

func (d *Device) fillFromSysfs(dir string) {
	entries, err := os.ReadDir(filepath.Join(dir, "ports"))
	if err != nil {
		d.problem("list ports: %w", err)
	}
	for _, e := range entries {
		n, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		p := PortInfo{Number: n}
		d.host.fillPortFromSysfs(d.Name, &p, true)
		d.netdevFromSysfs(&p)
		d.Ports = append(d.Ports, p)
	}
	slices.SortFunc(d.Ports, func(a, b PortInfo) int { return a.Number - b.Number })
	if len(d.Ports) > 0 {
		d.Protocol = sysfsProtocol(d.NodeType, d.Ports[0].LinkLayer)
	}
	d.host.fillCharDevFromSysfs(d)
}

func sysfsProtocol(t NodeType, l LinkLayer) Protocol {
	switch {
	case t == NodeRNIC:
		return ProtocolIWARP
	case t == NodeUSNIC || t == NodeUSNICUDP:
		return ProtocolUSNIC
	case t == NodeCA && l == LinkEthernet:
		return ProtocolRoCE
	case l == LinkInfiniBand:
		return ProtocolIB
	}
	return ""
}

// fillPortFromSysfs adds what only sysfs knows and, with all, the rest too.
func (h *host) fillPortFromSysfs(device string, p *PortInfo, all bool) {
	dir := h.path(sysClass, device, "ports", strconv.Itoa(p.Number))
	if all {
		p.State = PortState(enumAttribute(dir, "state"))
		p.Phys = PhysState(enumAttribute(dir, "phys_state"))
		p.LID = uint32(hexAttribute(32, dir, "lid"))
		p.SMLID = uint32(hexAttribute(32, dir, "sm_lid"))
		p.LMC = uint8(hexAttribute(8, dir, "lid_mask_count"))
		p.CapFlags = hexAttribute(64, dir, "cap_mask")
	}
	if l := attribute(dir, "link_layer"); l == string(LinkEthernet) || l == string(LinkInfiniBand) {
		p.LinkLayer = LinkLayer(l)
	}
	p.SpeedMbps, p.Width = parseRate(attribute(dir, "rate"))
}

// netdevFromSysfs finds a port's network interface without netlink, by the first slot of
// the GID table. sysfs tells the names of other namespaces too.
func (d *Device) netdevFromSysfs(p *PortInfo) {
	e, used, err := readGID(d.host.path(sysClass, d.Name, "ports", strconv.Itoa(p.Number)), 0)
	if err != nil || !used {
		return
	}
	first := []GIDEntry{e}
	d.placeGIDs(p.Number, first)
	if !first[0].OtherNetNS {
		p.Netdev, p.NetdevIndex = first[0].Netdev, first[0].NetdevIndex
		d.host.fillMTU(p)
	}
}

// fillMTU adds what is known of a port's network interface.
func (h *host) fillMTU(p *PortInfo) {
	if p.NetdevIndex == 0 {
		return
	}
	all, _ := h.netdevs() // unknown without
	if n := all.byIndex(p.NetdevIndex); n != nil {
		p.NetdevMTU = n.mtu
	}
}

// parseRate reads "100 Gb/sec (4X EDR)" or "2.5 Gb/sec (1X SDR)".
func parseRate(s string) (mbps, width int) {
	number, rest, ok := strings.Cut(s, " Gb/sec")
	v, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || v < 0 || v > 1e6 {
		return 0, 0
	}
	lanes, _, ok := strings.Cut(strings.TrimPrefix(rest, " ("), "X")
	if ok {
		width, _ = strconv.Atoi(lanes)
	}
	return int(v * 1000), width
}

// fillCharDevFromSysfs finds the verbs device that belongs to d.
func (h *host) fillCharDevFromSysfs(d *Device) bool {
	entries, _ := os.ReadDir(h.path(sysVerbsClass)) // absent: no character device
	for _, e := range entries {
		dir := h.path(sysVerbsClass, e.Name())
		if attribute(dir, "ibdev") != d.Name {
			continue
		}
		major, minor, ok := parseDev(attribute(dir, "dev"))
		if !ok {
			d.problem("character device %s: no numbers in sysfs", e.Name())
			return true
		}
		version, _ := strconv.Atoi(attribute(dir, "abi_version"))
		d.CharDev = CharDev{
			Name: e.Name(), Major: major, Minor: minor, ABIVersion: version,
			Path: h.nodePath(e.Name(), major, minor),
		}
		return true
	}
	return false
}

// parseDev reads "231:192".
func parseDev(s string) (major, minor uint32, ok bool) {
	n, err := fmt.Sscanf(s, "%d:%d", &major, &minor)
	return major, minor, n == 2 && err == nil
}

// nodePath finds the device node with the given numbers. A container runtime may have
// put it in another place than udev does, so the folder and /dev/char are searched
// too. Without any such node the usual place is returned.
func (h *host) nodePath(name string, major, minor uint32) string {
	usual := h.path(devFolder, name)
	candidates := []string{usual}
	entries, _ := os.ReadDir(h.path(devFolder)) // absent: nothing to search
	for _, e := range entries {
		candidates = append(candidates, h.path(devFolder, e.Name()))
	}
	candidates = append(candidates, h.path("dev/char", fmt.Sprintf("%d:%d", major, minor)))
	for _, path := range candidates {
		if n, err := h.stat(path); err == nil && n.is(major, minor) {
			return path
		}
	}
	return usual
}

// sysfsDriver guesses the driver from the bus driver of the device and, for the soft
// drivers, which have none, from the description they set.
func sysfsDriver(dir string) abi.RDMADriverID {
	if target, err := os.Readlink(filepath.Join(dir, "device", "driver")); err == nil {
		name, _, _ := strings.Cut(filepath.Base(target), ".") // auxiliary bus: mlx5_ib.rdma
		return busDrivers[name]
	}
	switch attribute(dir, "node_desc") {
	case "rxe":
		return abi.RDMA_DRIVER_RXE
	case "Software iWARP stack":
		return abi.RDMA_DRIVER_SIW
	}
	return abi.RDMA_DRIVER_UNKNOWN
}

var busDrivers = map[string]abi.RDMADriverID{
	"mlx5_core": abi.RDMA_DRIVER_MLX5, "mlx5_ib": abi.RDMA_DRIVER_MLX5,
	"mlx4_core": abi.RDMA_DRIVER_MLX4, "mlx4_ib": abi.RDMA_DRIVER_MLX4,
	"bnxt_en": abi.RDMA_DRIVER_BNXT_RE, "bnxt_re": abi.RDMA_DRIVER_BNXT_RE,
	"ice": abi.RDMA_DRIVER_IRDMA, "i40e": abi.RDMA_DRIVER_IRDMA, "irdma": abi.RDMA_DRIVER_IRDMA,
	"cxgb4": abi.RDMA_DRIVER_CXGB4, "iw_cxgb4": abi.RDMA_DRIVER_CXGB4,
	"hns3": abi.RDMA_DRIVER_HNS, "hns_roce": abi.RDMA_DRIVER_HNS,
	"qede": abi.RDMA_DRIVER_QEDR, "qedr": abi.RDMA_DRIVER_QEDR,
	"efa": abi.RDMA_DRIVER_EFA, "erdma": abi.RDMA_DRIVER_ERDMA, "hfi1": abi.RDMA_DRIVER_HFI1,
	"ib_mthca": abi.RDMA_DRIVER_MTHCA, "ib_qib": abi.RDMA_DRIVER_QIB, "usnic_verbs": abi.RDMA_DRIVER_USNIC,
	"vmw_pvrdma": abi.RDMA_DRIVER_VMW_PVRDMA, "mana": abi.RDMA_DRIVER_MANA, "mana_ib": abi.RDMA_DRIVER_MANA,
	"be2net": abi.RDMA_DRIVER_OCRDMA, "ocrdma": abi.RDMA_DRIVER_OCRDMA, "ionic": abi.RDMA_DRIVER_IONIC,
}
