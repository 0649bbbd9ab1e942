//go:build linux

package integration

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
)

const cgroupRoot = "/sys/fs/cgroup"

// limitRDMA puts this process into a control group of its own and returns what
// sets the group's limits of handles and objects on the guest's device.
func limitRDMA(t *testing.T) func(handles, objects int) {
	t.Helper()
	dir := filepath.Join(cgroupRoot, "rdma-race")
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		missing(t, "control groups (cgroup v2)", "run through scripts/vm: "+err.Error())
	}
	if _, err := os.Stat(filepath.Join(dir, "rdma.max")); err != nil {
		missing(t, "the rdma controller of control groups", "run through scripts/vm: "+err.Error())
	}
	enter := func(group string) error {
		return os.WriteFile(filepath.Join(group, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0o644)
	}
	if err := enter(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(enter(cgroupRoot), os.Remove(dir)); err != nil {
			t.Error(err)
		}
	})
	device := verbsDevice(t).Name
	return func(handles, objects int) {
		t.Helper()
		line := fmt.Sprintf("%s hca_handle=%d hca_object=%d", device, handles, objects)
		if err := os.WriteFile(filepath.Join(dir, "rdma.max"), []byte(line), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRaceLimits lets the kernel refuse the n-th object of a connection, for
// each n until a connection and a message work: both ends say so, neither
// hangs, and what was made before goes away (rdma.max of control groups).
func TestRaceLimits(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	limit := limitRDMA(t)
	const enough = 100
	for objects := range enough {
		handles := min(objects, 1) // the first run may not even open the device
		limit(handles, objects)
		var err error
		t.Run(fmt.Sprintf("%d handles, %d objects", handles, objects), func(t *testing.T) {
			checkLeaks(t)
			if err = limitedSession(&watchdog{tb: t}); err != nil && !errors.Is(err, syscall.EAGAIN) {
				t.Errorf("got %v", err)
			}
		})
		if t.Failed() {
			return
		}
		if err == nil {
			t.Logf("%d objects are enough", objects)
			if objects < 5 { // protection domain, channel, queue, two queue pairs
				t.Error("the limit did not count")
			}
			return
		}
	}
	t.Errorf("%d objects are not enough", enough)
}

// limitedSession is a listener, a connection and a message there and back.
func limitedSession(w *watchdog) error {
	ctx, cancel := context.WithTimeout(context.Background(), raceDeadline)
	defer cancel()
	l, err := cm.Listen(ctx, addrV4+":0", nil)
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() {
		req, err := l.Accept(ctx)
		if err == nil {
			err = w.serveOne(ctx, req)
		}
		served <- err
	}()
	err = w.dialRace(ctx, &cm.Dialer{}, l.Addr().String())
	if err != nil {
		cancel() // or the server waits for a client that never comes
	}
	return errors.Join(err, <-served, w.do("close listener", l.Close))
}
