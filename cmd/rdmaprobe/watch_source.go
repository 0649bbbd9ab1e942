package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/purerdma/rdma/internal/rdmanl"
	"github.com/purerdma/rdma/uverbs"
)

// sysfsDevices has a folder for each device.
const sysfsDevices = "/sys/class/infiniband"

// machineSource looks at this machine.
type machineSource struct {
	o      watchOptions
	ctx    context.Context
	stop   context.CancelFunc
	queue  chan watchEvent
	mon    *rdmanl.Monitor // nil when the kernel has none
	wg     sync.WaitGroup
	opened map[int]*uverbs.Context // by device index

	openDevice func(*uverbs.Device) (*uverbs.Context, error)
	readGIDs   func(d *uverbs.Device, c *uverbs.Context, port int) ([]uverbs.GIDEntry, error)
}

func watchMachine(ctx context.Context, o watchOptions) (watchSource, error) {
	s := newMachineSource(ctx, o)
	if hasMonitor(ctx) {
		// Without it looking at intervals remains.
		if m, err := rdmanl.OpenMonitor(); err == nil {
			s.mon = m
			s.wg.Go(s.listen)
		}
	}
	return s, nil
}

func newMachineSource(ctx context.Context, o watchOptions) *machineSource {
	s := &machineSource{o: o, queue: make(chan watchEvent, 64), opened: map[int]*uverbs.Context{},
		openDevice: func(d *uverbs.Device) (*uverbs.Context, error) { return d.Open(nil) }, readGIDs: watchGIDs}
	s.ctx, s.stop = context.WithCancel(ctx)
	return s
}

func hasMonitor(ctx context.Context) bool {
	c, err := rdmanl.Open()
	if err != nil {
		return false
	}
	defer c.Close()
	sys, err := c.System(ctx)
	return err == nil && sys.Monitor
}

// listen passes on that something happened: a look finds out what. The look
// comes after it, so that nothing is missed in between.
func (s *machineSource) listen() {
	for {
		_, err := s.mon.Next(s.ctx)
		if err != nil && !errors.Is(err, syscall.ENOBUFS) {
			return
		}
		s.send(watchEvent{})
	}
}

func (s *machineSource) send(e watchEvent) {
	select {
	case s.queue <- e:
	case <-s.ctx.Done():
	}
}

func (s *machineSource) events() <-chan watchEvent { return s.queue }
func (s *machineSource) monitored() bool           { return s.mon != nil }

func (s *machineSource) Close() error {
	s.stop()
	for _, c := range s.opened {
		_ = c.Close() // nothing was made with it
	}
	if s.mon != nil {
		_ = s.mon.Close()
	}
	s.wg.Wait()
	return nil
}

// look finds devices, and lets go of those that are gone: kernels before 7.3
// hold up a removal until the last descriptor is closed.
func (s *machineSource) look(context.Context) (snapshot, error) {
	devices, err := uverbs.Devices()
	if err != nil && len(devices) == 0 && !errors.Is(err, uverbs.ErrNoDevice) {
		if _, statErr := os.Stat(sysfsDevices); statErr == nil {
			return nil, err
		}
		// Without any RDMA in the kernel there are no devices, yet.
	}
	now := snapshot{}
	for _, d := range devices {
		if s.o.device != "" && d.Name != s.o.device {
			continue
		}
		now[d.Index] = s.device(d)
	}
	for index, c := range s.opened {
		if _, there := now[index]; !there {
			_ = c.Close()
			delete(s.opened, index)
		}
	}
	return now, nil
}

func (s *machineSource) device(d *uverbs.Device) watchDevice {
	out := watchDevice{Name: d.Name, Driver: d.Driver(), Ports: map[int]watchPort{}}
	for _, p := range d.Ports {
		if p.State == 0 {
			continue // no state of a port: it could not be read
		}
		port := watchPort{State: p.State.String(), Phys: p.Phys.String(), Netdev: p.Netdev, MTU: p.NetdevMTU}
		gids, err := s.readGIDs(d, s.open(d), p.Number)
		switch {
		case errors.Is(err, syscall.EIO):
			continue // the device is on its way out (ib_uverbs after disassociation)
		case err != nil:
			port.GIDErr = err.Error()
		default:
			port.GIDs = gidTexts(gids)
		}
		if s.o.counters != "none" {
			port.Counters = readCounters(filepath.Join(sysfsDevices, d.Name, "ports", strconv.Itoa(p.Number)))
		}
		out.Ports[p.Number] = port
	}
	return out
}

func gidTexts(gids []uverbs.GIDEntry) map[int]string {
	out := map[int]string{}
	for _, g := range gids {
		out[g.Index] = strings.TrimSpace(g.GID.String() + " " + g.Type.String() + " " + g.Netdev)
	}
	return out
}

// watchGIDs reads a port's table, through the device if that is open. An error need
// not be the end of the device: it is not that the table is empty.
func watchGIDs(d *uverbs.Device, c *uverbs.Context, port int) ([]uverbs.GIDEntry, error) {
	if c != nil {
		return c.QueryGIDs(port)
	}
	return d.GIDTable(port)
}

// open opens a device and reads its events from then on. One that cannot be opened is
// tried again with the next look: its node may come after it.
func (s *machineSource) open(d *uverbs.Device) *uverbs.Context {
	if s.o.noEvents || d.Index < 0 {
		return nil
	}
	if c, is := s.opened[d.Index]; is {
		return c
	}
	c, err := s.openDevice(d)
	if err != nil {
		return nil
	}
	s.opened[d.Index] = c
	s.wg.Go(func() { s.async(c, d.Name) })
	return c
}

// async passes on the events of one device until it is closed.
func (s *machineSource) async(c *uverbs.Context, name string) {
	for {
		e, err := c.NextAsyncEvent(s.ctx)
		if err != nil {
			return
		}
		s.send(watchEvent{device: name, port: e.Port, text: "event " + strings.TrimPrefix(e.Type.String(), "IB_EVENT_")})
	}
}

// readCounters reads the counters of a port. One that cannot be read or is no
// number is left out: some devices have placeholders.
func readCounters(dir string) map[string]uint64 {
	out := map[string]uint64{}
	for _, kind := range []string{"counters", "hw_counters"} {
		files, err := os.ReadDir(filepath.Join(dir, kind))
		if err != nil {
			continue
		}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(dir, kind, f.Name()))
			if err != nil {
				continue
			}
			if v, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64); err == nil && f.Name() != "lifespan" {
				out[f.Name()] = v
			}
		}
	}
	return out
}
