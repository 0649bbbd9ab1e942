package holders

import (
	"fmt"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// maxHostname is how much is read of a host name, whose most is 64 bytes
	// (__NEW_UTS_LEN), and 253 with a domain.
	maxHostname = 256
	// hostnameLimit is how long reading one may take: a container can have a file system
	// of its own make (FUSE), which need not answer.
	hostnameLimit = time.Second
)

// hostname reads the first line of /etc/hostname as a process sees it; empty when that is
// not possible, or not safe.
func (p Proc) hostname(dir string) string {
	text := make(chan string, 1)
	go func() { text <- readHostname(filepath.Join(dir, "root")) }()
	select {
	case s := <-text:
		return firstLine(s)
	case <-time.After(hostnameLimit):
		return ""
	}
}

// readHostname opens etc/hostname below a root that is somebody else's. Whatever is there is
// theirs to choose: links stay below the root (RESOLVE_IN_ROOT, kernel 5.6; not at all
// without it), and only a regular file is opened for reading, since the open of a device has
// effects, and that of a pipe waits.
func readHostname(root string) string {
	top, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(top)
	place, err := unix.Openat2(top, "etc/hostname", &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return ""
	}
	defer unix.Close(place)
	var st unix.Stat_t
	if err := unix.Fstat(place, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return ""
	}
	// The same file, which no name leads to any more.
	f, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", place), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer unix.Close(f)
	b := make([]byte, maxHostname)
	n, err := unix.Read(f, b)
	if err != nil {
		return ""
	}
	return string(b[:n])
}
