package main

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/uverbs"
)

// TestWatchGIDError: a table that cannot be read is not an empty one, and that it
// cannot is said once. What changed meanwhile is told afterwards.
func TestWatchGIDError(t *testing.T) {
	look := func(err string, gids map[int]string) snapshot {
		return snapshot{3: {Name: "rxe0", Driver: "rxe", Ports: map[int]watchPort{1: {State: "ACTIVE", GIDs: gids, GIDErr: err}}}}
	}
	a, b := map[int]string{0: "fe80::1", 1: "10.0.0.1"}, map[int]string{0: "fe80::1"}
	for _, tt := range []struct {
		name  string
		looks []snapshot
		want  []string
	}{
		{"for a while", []snapshot{look("", a), look("EIO", nil), look("EIO", nil), look("", a)}, []string{"gids-unreadable"}},
		{"a change meanwhile", []snapshot{look("", a), look("EIO", nil), look("", b)}, []string{"gids-unreadable", "gid-removed"}},
		{"at first", []snapshot{look("EIO", nil), look("EIO", nil), look("", b), look("", a)}, []string{"present", "gid-added"}},
		{"the port, too", []snapshot{look("", a), {3: {Name: "rxe0", Ports: map[int]watchPort{}}}, look("", a)}, nil},
		{"another error", []snapshot{look("", a), look("EIO", nil), look("EPERM", nil)}, []string{"gids-unreadable", "gids-unreadable"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			last, got := tt.looks[0], []string(nil)
			for _, now := range tt.looks[1:] {
				now.keep(last)
				for _, d := range changes(last, now) {
					got = append(got, d.Event)
				}
				last = now
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestWatchTriesAgain: a device that cannot be opened, or whose GIDs cannot be read, is
// tried with each look.
func TestWatchTriesAgain(t *testing.T) {
	s := newMachineSource(t.Context(), watchOptions{counters: "none"})
	var opens, reads int
	s.openDevice = func(*uverbs.Device) (*uverbs.Context, error) { opens++; return nil, syscall.EACCES }
	s.readGIDs = func(*uverbs.Device, *uverbs.Context, int) ([]uverbs.GIDEntry, error) {
		if reads++; reads == 1 {
			return nil, syscall.EPERM
		}
		return []uverbs.GIDEntry{gid(0, "fe80::1", "eth0")}, nil
	}
	first, second := s.device(rxeDevice(0, "eth0")), s.device(rxeDevice(0, "eth0"))
	if opens != 2 || reads != 2 {
		t.Errorf("opened %d times, read %d times", opens, reads)
	}
	if p := first.Ports[1]; p.GIDs != nil || p.GIDErr != syscall.EPERM.Error() {
		t.Errorf("a table that cannot be read: %+v", p)
	}
	if p := second.Ports[1]; len(p.GIDs) != 1 || p.GIDErr != "" {
		t.Errorf("a table: %+v", p)
	}
	s.readGIDs = func(*uverbs.Device, *uverbs.Context, int) ([]uverbs.GIDEntry, error) {
		return nil, syscall.EIO
	}
	if got := s.device(rxeDevice(0, "eth0")); len(got.Ports) != 0 {
		t.Errorf("a port of a device on its way out: %+v", got.Ports)
	}
	unread := rxeDevice(0, "eth0")
	unread.Ports[0].State = 0
	if got := s.device(unread); len(got.Ports) != 0 {
		t.Errorf("a port that could not be read: %+v", got.Ports)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
