//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// ports are the serial lines to the host.
type ports struct {
	stdout, stderr, control *os.File
}

func openPorts() (*ports, error) {
	var (
		p   ports
		err error
	)
	for _, line := range []struct {
		path, name string
		file       **os.File
	}{
		{"/dev/ttyS1", "out", &p.stdout},
		{"/dev/ttyS2", "err", &p.stderr},
		{"/dev/ttyS3", "ctl", &p.control},
	} {
		if runtime.GOARCH == "amd64" {
			*line.file, err = openRaw(line.path)
		} else {
			*line.file, err = openVirtual("rdma-vm." + line.name)
		}
		if err != nil {
			return nil, err
		}
	}
	return &p, nil
}

// openVirtual opens the virtio port of the name that scripts/vm gave it. It
// loads the drivers, for which the machine may need a moment.
func openVirtual(name string) (*os.File, error) {
	tree := runningModules()
	for _, module := range []string{"virtio_pci", "virtio_console"} {
		if err := tree.load(module); err != nil && !errors.Is(err, errNoModule) {
			return nil, err
		}
	}
	for range 100 {
		// Without udev the name is in sysfs only.
		files, _ := filepath.Glob("/sys/class/virtio-ports/*/name")
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err == nil && strings.TrimSpace(string(text)) == name {
				return os.OpenFile("/dev/"+filepath.Base(filepath.Dir(file)), os.O_WRONLY, 0)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, fmt.Errorf("no virtio port %s", name)
}

// openRaw opens a serial line that passes every byte as it is.
func openRaw(path string) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	t, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, fmt.Errorf("%s: read line settings: %w", path, err)
	}
	t.Iflag, t.Oflag, t.Lflag = 0, 0, 0
	t.Cflag = unix.CS8 | unix.CREAD | unix.CLOCAL | unix.B115200
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, t); err != nil {
		return nil, fmt.Errorf("%s: set raw mode: %w", path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

// drain waits until the host has taken every byte; writing to a virtio port
// has waited already.
func drain(f *os.File) {
	_ = unix.IoctlSetInt(int(f.Fd()), unix.TCSBRK, 1)
}

// say sends one line of the protocol.
func (p *ports) say(format string, args ...any) {
	fmt.Fprintf(p.control, format+"\n", args...)
	drain(p.control)
}

// fail reports that the guest could not get as far as running the binary.
func (p *ports) fail(err error) {
	p.say("fail %v", err)
	powerOff(1)
}

// finish reports the status of the binary. With several guests the machine
// stays up, because the others may still talk to this kernel; the host ends it.
func (p *ports) finish(status int, stay bool) {
	drain(p.stdout)
	drain(p.stderr)
	p.say("rc %d", status)
	for stay {
		time.Sleep(time.Hour)
	}
	powerOff(status)
}

// powerOff ends the machine. Port 0xf4 is QEMU's isa-debug-exit, which stops at
// once; without it the kernel's own power-off is used.
func powerOff(status int) {
	if f, err := os.OpenFile("/dev/port", os.O_WRONLY, 0); err == nil {
		_, _ = f.WriteAt([]byte{byte(status & 0x3f)}, 0xf4)
	}
	_ = unix.Reboot(unix.LINUX_REBOOT_CMD_POWER_OFF)
	os.Exit(status)
}
