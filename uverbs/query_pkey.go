package uverbs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// QueryPKey returns an entry of a port's P_Key table. The kernel has no verbs
// command for it; sysfs is read, as the C library does. The error matches
// fs.ErrNotExist when there is no such port, when the table has no such entry, or
// when sysfs is not mounted.
func (c *Context) QueryPKey(port, index int) (uint16, error) {
	if err := c.life.enter(); err != nil {
		return 0, err
	}
	defer c.life.leave()
	path := c.dev.machine().path(sysClass, c.dev.Name, "ports", strconv.Itoa(port), "pkeys", strconv.Itoa(index))
	object := fmt.Sprintf("port %d entry %d", port, index)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, c.fail("QUERY_PKEY", object, err)
	}
	v, err := strconv.ParseUint(strings.TrimPrefix(strings.TrimSpace(string(b)), "0x"), 16, 16)
	if err != nil {
		return 0, c.fail("QUERY_PKEY", object, err)
	}
	return uint16(v), nil
}

// PKeyIndex finds a P_Key in a port's table, for QPAttr.PKeyIndex. Full and
// limited membership (the highest bit) are different keys. The error matches
// fs.ErrNotExist when the table does not have it.
func (c *Context) PKeyIndex(port int, key uint16) (int, error) {
	for index := 0; ; index++ {
		got, err := c.QueryPKey(port, index)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return 0, c.fail("QUERY_PKEY", fmt.Sprintf("port %d, P_Key %#x", port, key), fs.ErrNotExist)
		case err != nil:
			return 0, err
		case got == key:
			return index, nil
		}
	}
}
