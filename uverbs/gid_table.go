package uverbs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
)

// GIDEntry is one used slot of a port's GID table.
type GIDEntry struct {
	// Index is the slot, as address handles and QP attributes name it. Tables have
	// holes: it is not the position in a slice.
	Index int
	GID   GID
	Type  GIDType
	// Netdev is the network device the GID belongs to: the port's own, or a VLAN,
	// macvlan or bond above it. It is empty on InfiniBand, and where an open device
	// knows no name because OtherNetNS is set.
	Netdev string
	// NetdevIndex is the number of that device (ifindex). 0 where there is none, or
	// where sysfs tells none because OtherNetNS is set.
	NetdevIndex int
	// OtherNetNS says that Netdev is not in the network namespace of the calling
	// thread, so that nothing can be sent from the GID here. Name and number are those
	// of the other namespace then, and may be those of an interface here. An interface
	// here that no longer has the GID's address counts as another one.
	OtherNetNS bool
}

// GIDTable reads the used slots of a port's GID table from sysfs, without opening the
// device. It fails with an error that matches fs.ErrNotExist when sysfs is not mounted
// or has no such device or port; the table can then be queried from an open device.
func (d *Device) GIDTable(port int) ([]GIDEntry, error) {
	dir := d.machine().path(sysClass, d.Name, "ports", strconv.Itoa(port))
	entries, err := os.ReadDir(filepath.Join(dir, "gids"))
	if err != nil {
		return nil, fmt.Errorf("GID table of %s port %d: %w", d.Name, port, err)
	}
	var out []GIDEntry
	var failed error
	for _, f := range entries {
		index, err := strconv.Atoi(f.Name())
		if err != nil {
			continue
		}
		e, used, err := readGID(dir, index)
		if err != nil {
			failed = err
		}
		if used {
			out = append(out, e)
		}
	}
	slices.SortFunc(out, func(a, b GIDEntry) int { return a.Index - b.Index })
	if len(out) == 0 && failed != nil {
		return nil, fmt.Errorf("GID table of %s port %d: %w", d.Name, port, failed)
	}
	d.placeGIDs(port, out)
	return out, nil
}

// readGID reads one slot. Empty slots read as the zero GID, and their attributes fail
// with EINVAL (_show_port_gid_attr); a slot may become empty between the reads.
func readGID(dir string, index int) (e GIDEntry, used bool, err error) {
	name := strconv.Itoa(index)
	b, err := os.ReadFile(filepath.Join(dir, "gids", name))
	if err != nil {
		return e, false, ignoreEmptySlot(err)
	}
	gid, err := ParseGID(string(b))
	if err != nil || gid.IsZero() {
		return e, false, err
	}
	e = GIDEntry{Index: index, GID: gid, Netdev: attribute(dir, "gid_attrs/ndevs", name)}
	switch attribute(dir, "gid_attrs/types", name) {
	case "IB/RoCE v1":
		// The kernel prints one name for both; the link layer decides.
		if attribute(dir, "link_layer") == string(LinkEthernet) {
			e.Type = GIDTypeRoCEv1
		}
	case "RoCE v2":
		e.Type = GIDTypeRoCEv2
	case "":
		return e, attribute(dir, "link_layer") == string(LinkInfiniBand), nil
	}
	return e, true, nil
}

func ignoreEmptySlot(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
