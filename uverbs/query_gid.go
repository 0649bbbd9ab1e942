package uverbs

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// maxGIDEntries is how many entries fit the 16-bit length of an attribute.
const maxGIDEntries = (1<<16 - 1) / int(unsafe.Sizeof(abi.IBUverbsGIDEntry{}))

// QueryGIDs returns the used slots of a port's GID table, by number of the slot
// (QUERY_GID_TABLE, Linux 5.10, or sysfs in its place). The error is an *[Error],
// with syscall.EINVAL when there is no such port.
func (c *Context) QueryGIDs(port int) ([]GIDEntry, error) {
	if err := c.life.enter(); err != nil {
		return nil, err
	}
	defer c.life.leave()
	entries, err := c.gidTable(port)
	if len(entries) == 0 { // it may be that of no port
		if _, portErr := c.queryPort(port); portErr != nil {
			return nil, portErr
		}
	}
	return entries, err
}

func (c *Context) gidTable(port int) ([]GIDEntry, error) {
	if c.native() {
		all, err := c.queryGIDTable()
		if err == nil {
			entries := entriesOfPort(all, port)
			c.placeGIDs(port, entries)
			return entries, nil
		}
		if !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
			return nil, err
		}
		// EINVAL: the table has more entries than an attribute can hold.
	}
	d := *c.dev
	d.host = c.dev.machine()
	entries, err := d.GIDTable(port)
	if err != nil {
		return nil, c.fail(methodQueryGIDTable.name, fmt.Sprintf("port %d", port), err)
	}
	return entries, nil
}

// queryGIDTable returns the entries of all ports.
func (c *Context) queryGIDTable() ([]abi.IBUverbsGIDEntry, error) {
	mem, err := offheap.Map(maxGIDEntries * size[abi.IBUverbsGIDEntry]())
	if err != nil {
		return nil, c.fail(methodQueryGIDTable.name, "", err)
	}
	defer func() { _ = offheap.Unmap(mem) }() // cannot fail for what Map returned
	i, err := newIoctl(&methodQueryGIDTable)
	if err != nil {
		return nil, c.fail(methodQueryGIDTable.name, "", err)
	}
	defer i.release()
	i.u64(uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE), uint64(size[abi.IBUverbsGIDEntry]()))
	i.u32(uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_FLAGS), 0)
	i.out(uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES), mem)
	n := i.outU64(uint16(abi.UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES))
	if err := c.ioctl(i, ""); err != nil {
		return nil, err
	}
	first := (*abi.IBUverbsGIDEntry)(unsafe.Pointer(unsafe.SliceData(mem)))
	entries := unsafe.Slice(first, maxGIDEntries)[:min(*n, uint64(maxGIDEntries))]
	return append([]abi.IBUverbsGIDEntry(nil), entries...), nil
}

func entriesOfPort(all []abi.IBUverbsGIDEntry, port int) []GIDEntry {
	var out []GIDEntry
	for i := range all {
		if int(all[i].PortNum) == port {
			out = append(out, gidEntry(&all[i]))
		}
	}
	return out
}

func gidEntry(e *abi.IBUverbsGIDEntry) GIDEntry {
	return GIDEntry{
		Index: int(e.GIDIndex), GID: GID(offheap.BytesOf(&e.GID)),
		Type: GIDType(e.GIDType), NetdevIndex: int(e.NetdevIfindex),
	}
}

// QueryGID returns one slot of a port's GID table (QUERY_GID_ENTRY, Linux 5.10,
// or sysfs in its place). The error is an *[Error], with syscall.ENODATA when
// the slot is empty and syscall.EINVAL when there is no such slot or port.
func (c *Context) QueryGID(port, index int) (GIDEntry, error) {
	object := fmt.Sprintf("port %d slot %d", port, index)
	if !fits32(port, index) {
		return GIDEntry{}, c.fail(methodQueryGIDEntry.name, object, errInvalid)
	}
	if c.native() {
		e, err := c.queryGIDEntry(port, index, object)
		if !errors.Is(err, errors.ErrUnsupported) {
			return e, err
		}
	}
	entries, err := c.QueryGIDs(port)
	if err != nil {
		return GIDEntry{}, err
	}
	for _, e := range entries {
		if e.Index == index {
			return e, nil
		}
	}
	attr, err := c.QueryPort(port)
	switch {
	case err != nil:
		return GIDEntry{}, err
	case index < 0 || index >= attr.GIDTableLen:
		return GIDEntry{}, c.fail(methodQueryGIDEntry.name, object, errInvalid)
	}
	return GIDEntry{}, c.fail(methodQueryGIDEntry.name, object, syscall.ENODATA)
}

func (c *Context) queryGIDEntry(port, index int, object string) (GIDEntry, error) {
	if err := c.life.enter(); err != nil {
		return GIDEntry{}, err
	}
	defer c.life.leave()
	i, err := newIoctl(&methodQueryGIDEntry)
	if err != nil {
		return GIDEntry{}, c.fail(methodQueryGIDEntry.name, object, err)
	}
	defer i.release()
	i.u64(uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_PORT), uint64(uint32(port)))
	i.u64(uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX), uint64(uint32(index)))
	i.u32(uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS), 0)
	resp := offheap.Alloc[abi.IBUverbsGIDEntry](i.b)
	i.out(uint16(abi.UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY), offheap.BytesOf(resp))
	if err := c.ioctl(i, object); err != nil {
		return GIDEntry{}, err
	}
	entry := []GIDEntry{gidEntry(resp)}
	c.placeGIDs(port, entry)
	return entry[0], nil
}

// placeGIDs finds out where the interfaces of entries are.
func (c *Context) placeGIDs(port int, entries []GIDEntry) { c.dev.placeGIDs(port, entries) }
