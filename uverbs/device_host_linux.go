package uverbs

import (
	"io/fs"
	"net"

	"golang.org/x/sys/unix"
)

func statNode(path string) (nodeInfo, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nodeInfo{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	return nodeInfo{
		charDev: st.Mode&unix.S_IFMT == unix.S_IFCHR,
		major:   unix.Major(st.Rdev),
		minor:   unix.Minor(st.Rdev),
		perm:    fs.FileMode(st.Mode & 0o777),
		uid:     st.Uid,
		gid:     st.Gid,
	}, nil
}

func netdevExists(name string) bool {
	_, err := net.InterfaceByName(name)
	return err == nil
}
