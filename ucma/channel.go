package ucma

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
)

// DevicePath is the character device of the connection manager. It exists
// once the kernel module rdma_ucm is loaded.
const DevicePath = "/dev/infiniband/rdma_cm"

// sysfsABIVersion holds the version of the command ABI as text.
const sysfsABIVersion = "/sys/class/misc/rdma_cm/abi_version"

// A Channel is an open connection-manager device and the IDs created on it.
type Channel struct {
	file *devfile.File
}

// Options change how a channel is opened. The zero value, like a nil pointer,
// means the real device at DevicePath.
type Options struct {
	// Path is the device file; empty means DevicePath.
	Path string

	// Kernel stands in for the running kernel in tests; nil means the real
	// one.
	Kernel devfile.Kernel
}

// Open opens the connection manager. Where its device is missing, the kernel
// is first asked to load its module, which needs no privilege and may not be
// possible, as in a container without the device node. The error tells a missing device (it
// matches os.ErrNotExist: module rdma_ucm is not loaded, or a container was not
// given the node) from a denied one (os.ErrPermission).
func Open(opts *Options) (*Channel, error) {
	o := Options{Path: DevicePath}
	if opts != nil {
		o.Kernel = opts.Kernel
		if opts.Path != "" {
			o.Path = opts.Path
		}
	}
	f, err := o.open()
	if err != nil {
		return nil, openError(err)
	}
	return &Channel{file: f}, nil
}

func (o *Options) open() (*devfile.File, error) {
	if o.Kernel == nil && o.Path == DevicePath {
		return openLoading(o.Path)
	}
	return devfile.Open(o.Kernel, o.Path)
}

// Close closes the device. The kernel then destroys every ID still on the
// channel, which tells connected peers. A blocked GetEvent returns. Close may
// be called more than once.
func (c *Channel) Close() error { return c.file.Close() }

// ABIVersion reads the version of the command ABI the running kernel speaks
// from sysfs. Every kernel since 2.6.21 says 4.
func ABIVersion() (int, error) {
	b, err := os.ReadFile(sysfsABIVersion)
	if err != nil {
		return 0, fmt.Errorf("read the connection manager's ABI version: %w", err)
	}
	v, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		return 0, fmt.Errorf("read the connection manager's ABI version from %s: %w", sysfsABIVersion, syscall.EINVAL)
	}
	return v, nil
}
