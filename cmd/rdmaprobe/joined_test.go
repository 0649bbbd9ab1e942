package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// TestDescribeJoined: of several failures the first is taken apart, and the
// others are told.
func TestDescribeJoined(t *testing.T) {
	op := &cm.OpError{Op: "dial", Step: "open device", Device: "rxe0", Err: syscall.EACCES, Hint: "ask root"}
	one := describe(&commandError{"rdmaprobe demo", errors.Join(op, nil)})
	if one.Step != "dial: open device" || one.Object != "via rxe0" || one.Cause != "permission denied" || one.Remedy != "ask root" {
		t.Errorf("one error: %+v", one)
	}
	two := describe(&commandError{"rdmaprobe demo", errors.Join(op, &failure{step: "clean up", object: "v0", err: syscall.EBUSY})})
	if two.Step != one.Step || two.ExitCode != exitPermission || !strings.HasPrefix(two.Cause, "permission denied; then: clean up") {
		t.Errorf("two errors: %+v", two)
	}
	plain := describe(errors.Join(errors.New("a"), errors.New("b")))
	if plain.Cause != "a; b" || plain.Message != "a; b" {
		t.Errorf("plain errors: %+v", plain)
	}
}
