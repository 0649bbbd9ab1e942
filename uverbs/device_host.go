package uverbs

import (
	"context"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/kernelver"
	"github.com/purerdma/rdma/internal/rdmanl"
)

// discoveryTimeout bounds one round of discovery. The kernel answers in microseconds;
// the limit is for a kernel that does not answer at all.
const discoveryTimeout = 10 * time.Second

// netlinkClient is what discovery uses of *rdmanl.Client.
type netlinkClient interface {
	Devices(ctx context.Context) ([]rdmanl.Device, error)
	Device(ctx context.Context, index int) (rdmanl.Device, error)
	Port(ctx context.Context, index, port int) (rdmanl.Port, error)
	CharDev(ctx context.Context, index int, kind string) (rdmanl.CharDev, error)
	System(ctx context.Context) (rdmanl.System, error)
	Resources(ctx context.Context, index int) (map[string]uint64, error)
	Close() error
}

// host is the machine that discovery looks at. Tests replace its parts: a folder with
// a fake /sys, /proc, /dev and /etc, and a scripted netlink.
type host struct {
	root        string
	dial        func() (netlinkClient, error)
	open        func(path string) error // opens and closes a device file
	stat        func(path string) (nodeInfo, error)
	release     func() string // kernel release, e.g. "6.12.95-amd64"
	hasProvider func(abi.RDMADriverID) bool
	newLink     func(ctx context.Context, name, linkType, netdev string) error
	deleteLink  func(ctx context.Context, index int) error
	hasNetdev   func(name string) bool
	netdevs     func() (netdevs, error)
}

func realHost() *host {
	return &host{
		root: "/",
		dial: func() (netlinkClient, error) {
			c, err := rdmanl.Open()
			if err != nil {
				return nil, err
			}
			return c, nil
		},
		open:        openAndClose,
		stat:        statNode,
		release:     kernelver.Release,
		hasProvider: HasProvider,
		newLink:     rdmanl.NewLink,
		deleteLink:  rdmanl.DeleteLink,
		hasNetdev:   netdevExists,
		netdevs:     listNetdevs,
	}
}

func openAndClose(path string) error {
	f, err := devfile.Open(nil, path)
	if err != nil {
		return err
	}
	return f.Close()
}

// path returns where an absolute path of the machine is found.
func (h *host) path(elem ...string) string {
	return filepath.Join(append([]string{h.root}, elem...)...)
}

// nodeInfo is what stat tells about a device node.
type nodeInfo struct {
	charDev      bool
	major, minor uint32
	perm         fs.FileMode
	uid, gid     uint32
}

func (n nodeInfo) is(major, minor uint32) bool {
	return n.charDev && n.major == major && n.minor == minor
}
