package uverbs

import (
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/internal/rdmanl"
)

func TestCopyOnFork(t *testing.T) {
	for _, want := range []bool{true, false} {
		nl := &fakeNetlink{system: rdmanl.System{CopyOnFork: want}}
		if got, err := fakeHost(t, nl, nil, nil).copyOnFork(); got != want || err != nil {
			t.Errorf("%v, %v; want %v", got, err, want)
		}
	}
	failing := &fakeNetlink{system: rdmanl.System{CopyOnFork: true}, err: syscall.EPERM}
	if got, err := fakeHost(t, failing, nil, nil).copyOnFork(); got || !errors.Is(err, syscall.EPERM) {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := fakeHost(t, nil, nil, nil).copyOnFork(); !errors.Is(err, syscall.EPROTONOSUPPORT) {
		t.Error(err)
	}
}
