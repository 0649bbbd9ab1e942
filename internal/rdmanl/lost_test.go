package rdmanl

import (
	"errors"
	"fmt"
	"syscall"
	"testing"
)

// TestLostMessages: a socket whose buffer overflowed has lost a part of the answer,
// which is then asked for again; other failures are told.
func TestLostMessages(t *testing.T) {
	if err := lostIsInterrupted(fmt.Errorf("recvmsg: %w", syscall.ENOBUFS)); !errors.Is(err, errInterrupted) {
		t.Errorf("ENOBUFS became %v", err)
	}
	for _, errno := range []syscall.Errno{syscall.EBADF, syscall.ENOMEM, syscall.ECONNREFUSED} {
		if err := lostIsInterrupted(errno); err != errno {
			t.Errorf("%v became %v", errno, err)
		}
	}
	f := &fake{answers: []answer{{err: lostIsInterrupted(syscall.ENOBUFS)}, {payloads: [][]byte{encode(2, 'x', 0)}}}}
	if devs, err := (&Client{f}).Devices(t.Context()); err != nil || len(devs) != 1 {
		t.Errorf("%v, %v", devs, err)
	}
}
