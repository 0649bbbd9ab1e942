package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/uverbs"
)

// silentDial is the error of a dial that nobody answers in a step.
func silentDial(step, device string, err error) *cm.OpError {
	return &cm.OpError{Op: "dial", Step: step, Device: device, Remote: cm.Addr{AddrPort: netip.MustParseAddrPort("10.0.0.7:7174")},
		Err: err, Hint: "what package cm says to programs"}
}

// silentWorld has a network where nobody answers.
func silentWorld(step, device string) *world {
	w := rxeWorld()
	w.dialErr = silentDial(step, device, context.DeadlineExceeded)
	return w
}

// TestSilence: what is said depends on the step and on what the device speaks.
func TestSilence(t *testing.T) {
	const neighbour = "no neighbour for 10.0.0.7"
	for _, tt := range []struct {
		name          string
		err           error
		protocol      uverbs.Protocol
		cause, remedy string
	}{
		{"RoCE", silentDial("connect", "rxe0", context.DeadlineExceeded), uverbs.ProtocolRoCE, "no answer (UDP port 4791 filtered, or host down)", "drops UDP port 4791"},
		{"the kernel gave up", silentDial("connect", "rxe0", fmt.Errorf("UNREACHABLE: %w", syscall.ETIMEDOUT)), uverbs.ProtocolRoCE,
			"no answer (UDP port 4791 filtered, or host down)", "drops UDP port 4791"},
		{"device not found", silentDial("connect", "rxe9", context.DeadlineExceeded), "", "no answer (UDP port 4791 filtered, or host down)", "rdmaprobe path 10.0.0.7 "},
		{"iWARP", silentDial("connect", "rxe0", context.DeadlineExceeded), uverbs.ProtocolIWARP, "no answer (TCP port filtered, or host down)", "drops that TCP port"},
		{"InfiniBand", silentDial("connect", "rxe0", context.DeadlineExceeded), uverbs.ProtocolIB, "no answer (host down, or rdma_cm not loaded there)", "rdmaprobe doctor"},
		{"neighbour", silentDial("resolve address", "", syscall.ETIMEDOUT), "", neighbour, "rdmaprobe path 10.0.0.7 "},
		{"another step", silentDial("resolve route", "rxe0", syscall.ETIMEDOUT), "", "connection timed out", "what package cm says"},
		{"refused", silentDial("connect", "rxe0", cm.ErrRejected), "", "rejected by peer", "what package cm says"},
		{"lost later", &failure{err: &rping.StepError{Step: "wait", Err: &cm.OpError{Op: "receive", Err: context.DeadlineExceeded}}}, "", "no answer in time", ""},
		{"closed", &failure{err: io.EOF}, "", "EOF", remedies["peer-closed"]},
		{"cmping", cmAnswer{State: stateNoAnswer, Step: "connect", Device: "rxe0", Err: context.DeadlineExceeded}.failure("10.0.0.7:4420"), uverbs.ProtocolRoCE,
			"no answer (UDP port 4791 filtered, or host down)", "rdmaprobe path 10.0.0.7 "},
		{"not towards RDMA", cmAnswer{State: stateNoDevice, Step: "resolve address", Err: errors.Join(cm.ErrNoDevice, syscall.ETIMEDOUT)}.failure("10.0.0.7:4420"), "",
			"no RDMA device on that address; connection timed out", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := rxeWorld()
			w.diag.Devices[0].Protocol = tt.protocol
			got := (&app{sys: w.system()}).explain(&commandError{"rdmaprobe x", tt.err})
			if got.Cause != tt.cause || !strings.Contains(got.Remedy, tt.remedy) {
				t.Errorf("cause %q\nremedy %q", got.Cause, got.Remedy)
			}
			if diff := cmp.Diff(tt.err.Error(), got.Message); diff != "" && !strings.Contains(tt.err.Error(), "\n") {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
