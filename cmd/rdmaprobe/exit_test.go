package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

func TestClassify(t *testing.T) {
	dialError := func(step string, err error) error { return &cm.OpError{Op: "dial", Step: step, Err: err} }
	reject := func(r abi.CMRejectReason) error { return dialError("connect", &cm.RejectError{Reason: r}) }
	completion := func(s abi.IBWCStatus) error {
		return dialError("", &uverbs.CompletionError{Status: s})
	}
	for _, tt := range []struct {
		err   error
		class string
		code  int
	}{
		{usagef("no"), "usage", exitUsage},
		{dialError("", cm.ErrLoopback), "usage", exitUsage},
		{dialError("", syscall.EINVAL), "usage", exitUsage},
		{dialError("connect", syscall.EINVAL), "failed", exitFailed},
		{reject(abi.IB_CM_REJ_INVALID_SERVICE_ID), "no-listener", exitRejected},
		{reject(abi.IB_CM_REJ_CONSUMER_DEFINED), "rejected", exitRejected},
		{&failure{err: &rping.StepError{Err: &rping.MismatchError{}}}, "data-mismatch", exitFailed},
		{&rping.StepError{Err: fmt.Errorf("%w: x", rping.ErrProtocol)}, "protocol", exitFailed},
		{dialError("bind", fmt.Errorf("%w: %w", cm.ErrAddrInUse, syscall.EADDRNOTAVAIL)), "address-in-use", exitFailed},
		{dialError("resolve address", fmt.Errorf("%w: %w", cm.ErrNoPorts, syscall.EADDRNOTAVAIL)), "no-ports", exitFailed},
		{dialError("connect", &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: []byte("busy\x00\x00")}), "busy", exitRejected},
		{errInterrupted, "interrupted", exitFailed},
		{dialError("connect", context.Canceled), "interrupted", exitFailed},
		{&uverbs.LinkError{Module: "rdma_rxe", Err: syscall.EINVAL}, "module-missing", exitNoDevice},
		{&uverbs.LinkError{Err: syscall.EEXIST}, "exists", exitFailed},
		{&uverbs.LinkError{Err: syscall.ENODEV}, "no-device", exitNoDevice},
		{&uverbs.LinkError{Err: syscall.EPERM}, "permission", exitPermission},
		{dialError("resolve address", fmt.Errorf("%w: %w", cm.ErrNoDevice, syscall.ENODEV)), "no-device", exitNoDevice},
		{&uverbs.Error{Err: syscall.EIO}, "device-removed", exitNoDevice},
		{dialError("set up queue pair", uverbs.ErrNoProvider), "no-data-path", exitNoDevice},
		{dialError("connect", context.DeadlineExceeded), "timeout", exitUnreachable},
		{dialError("resolve address", syscall.ETIMEDOUT), "timeout", exitUnreachable},
		{dialError("resolve address", syscall.EHOSTUNREACH), "unreachable", exitUnreachable},
		{dialError("resolve address", syscall.ENETUNREACH), "unreachable", exitUnreachable},
		{dialError("resolve name", &net.DNSError{Name: "x", IsNotFound: true}), "unreachable", exitUnreachable},
		{dialError("receive", cm.ErrPeerClosed), "peer-closed", exitUnreachable},
		{dialError("receive", io.EOF), "peer-closed", exitUnreachable},
		{completion(abi.IB_WC_RETRY_EXC_ERR), "timeout", exitUnreachable},
		{completion(abi.IB_WC_REM_ACCESS_ERR), "completion", exitFailed},
		{fmt.Errorf("open: %w", fs.ErrPermission), "permission", exitPermission},
		{ucma.ErrCredentialsChanged, "permission", exitPermission},
		{&uverbs.Error{Op: "REG_MR", Err: uverbs.ErrMemlock}, "memlock", exitPermission},
		{fmt.Errorf("open: %w", syscall.ENOENT), "no-device", exitNoDevice},
		{errors.ErrUnsupported, "no-device", exitNoDevice},
		{errors.New("whatever"), "failed", exitFailed},
	} {
		class, code := classify(&commandError{"rdmaprobe x", tt.err})
		if class != tt.class || code != tt.code {
			t.Errorf("%v: %s, exit code %d; want %s, %d", tt.err, class, code, tt.class, tt.code)
		}
	}
}

func TestDescribe(t *testing.T) {
	dial := &cm.OpError{Op: "dial", Step: "connect", Device: "rxe0", Err: context.DeadlineExceeded, Hint: "look"}
	for name, tt := range map[string]struct {
		err  error
		want errorDoc
	}{
		"connection": {dial, errorDoc{Step: "dial: connect", Object: "via rxe0", Cause: "no answer in time", Remedy: "look"}},
		"the command knows the step": {&failure{step: "say hello", err: dial},
			errorDoc{Step: "say hello", Object: "via rxe0", Cause: "no answer in time", Remedy: "look"}},
		"ping": {&rping.StepError{Seq: 3, Step: "wait", Err: &cm.OpError{Op: "receive", Err: io.EOF, Remote: cm.Addr{}}},
			errorDoc{Step: "ping 3: wait", Object: "invalid AddrPort", Cause: "EOF", Remedy: remedies["peer-closed"]}},
		"verbs": {&uverbs.Error{Op: "QP_CREATE", Device: "rxe0", Object: "QP 0x11", Err: syscall.ENOMEM, Hint: "raise it"},
			errorDoc{Step: "QP_CREATE", Object: "rxe0 QP 0x11", Cause: "cannot allocate memory", Remedy: "raise it"}},
		"link": {&uverbs.LinkError{Op: "add", Name: "rxe0", Type: "rxe", Netdev: "v0", Cause: "why", Remedy: "how", Err: syscall.EPERM},
			errorDoc{Step: "add RDMA link", Object: "rxe0 (rxe on v0)", Cause: "why: operation not permitted", Remedy: "how"}},
		"anything": {errors.New("oops"), errorDoc{Step: "run the command", Cause: "oops"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := describe(&commandError{"rdmaprobe x", tt.err})
			got.Class, got.ExitCode, got.Message, got.AfterMS = "", 0, "", 0
			if diff := cmp.Diff(&tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRemedies: a remedy of a class that no rule gives would never be seen.
func TestRemedies(t *testing.T) {
	classes := map[string]bool{}
	for _, r := range rules {
		classes[r.class] = true
	}
	for c := range remedies {
		if !classes[c] {
			t.Errorf("no rule gives class %q", c)
		}
	}
}

func TestWrap(t *testing.T) {
	word := strings.Repeat("x", 30)
	got := wrap(strings.Join([]string{word, word, word, word}, " "), 10)
	want := word + " " + word + "\n" + strings.Repeat(" ", 10) + word + " " + word
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := wrap("", 10); got != "" {
		t.Errorf("wrap of nothing is %q", got)
	}
}

func TestFormatMS(t *testing.T) {
	for ms, want := range map[float64]string{
		0: "0.000 ms", 0.1234: "0.123 ms", 1.234: "1.23 ms", 12.34: "12.3 ms", 123.4: "123 ms", 1234: "1234 ms", 12340: "12.3 s",
	} {
		if got := formatMS(ms); got != want {
			t.Errorf("formatMS(%v) = %q, want %q", ms, got, want)
		}
	}
}
