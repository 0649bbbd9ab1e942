package rdmanl

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The socket is tried on families that every kernel has without modules: rtnetlink
// answers requests, and anybody may send to the groups of NETLINK_USERSOCK.

func testSocket(t *testing.T, family int) *socket {
	t.Helper()
	s, err := openFamily(family)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.close() })
	return s
}

// listLinks asks for the network interfaces. The attribute is read as struct ifinfomsg.
func listLinks(ctx context.Context, s *socket) ([][]byte, error) {
	return s.exchange(ctx, unix.RTM_GETLINK, true, []attr{{data: make([]byte, unix.SizeofIfInfomsg-attrHeaderLen)}})
}

// TestExchange: one request after the other gets its answer, also after one that failed;
// who waits for a turn gives up at the end of its context.
func TestExchange(t *testing.T) {
	s := testSocket(t, unix.NETLINK_ROUTE)
	for range 2 {
		if links, err := listLinks(t.Context(), s); err != nil || len(links) == 0 {
			t.Fatalf("%d interfaces, %v", len(links), err)
		}
		if _, err := s.exchange(t.Context(), unix.RTM_MAX+1, false, nil); !errors.Is(err, syscall.EOPNOTSUPP) {
			t.Errorf("a request that the kernel does not know: %v", err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	<-s.turn // another request is under way
	if _, err := listLinks(ended, s); !errors.Is(err, context.Canceled) {
		t.Errorf("while another request is under way: %v", err)
	}
}

// TestExchangeContext: the end of its context ends a wait for an answer.
func TestExchangeContext(t *testing.T) {
	s := testSocket(t, unix.NETLINK_ROUTE)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.exchange(ctx, unix.RTM_GETLINK, true, nil) // too short: rtnetlink says nothing
		ended <- err
	}()
	for len(s.turn) > 0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one that matches context.Canceled", err)
	}
}

// TestDatagramTooLong: an answer that the buffer cuts off is no answer.
func TestDatagramTooLong(t *testing.T) {
	s := testSocket(t, unix.NETLINK_ROUTE)
	s.buf = s.buf[:nlmsgHeaderLen+unix.SizeofIfInfomsg]
	if _, err := listLinks(t.Context(), s); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "datagram over") {
		t.Errorf("error %v, want one that matches ErrMalformed and says that the datagram is too long", err)
	}
}

// testGroup is a group of NETLINK_USERSOCK.
const testGroup = 31

// inGroup makes a member of the group whose buffer is as small as can be.
func inGroup(t *testing.T) *socket {
	t.Helper()
	s := testSocket(t, unix.NETLINK_USERSOCK)
	if err := s.join(testGroup); err != nil {
		t.Fatal(err)
	}
	var optErr error
	if err := s.raw.Control(func(fd uintptr) { optErr = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVBUF, 1) }); err != nil || optErr != nil {
		t.Fatal(err, optErr)
	}
	return s
}

// toGroup sends to the group. Whoever has no room for it loses it.
func toGroup(t *testing.T, datagram []byte) {
	t.Helper()
	s := testSocket(t, unix.NETLINK_USERSOCK)
	var err error
	if ctlErr := s.raw.Control(func(fd uintptr) {
		err = unix.Sendto(int(fd), datagram, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK, Groups: 1 << (testGroup - 1)})
	}); ctlErr != nil {
		t.Fatal(ctlErr)
	}
	if err != unix.ECONNREFUSED { // by the kernel, which is addressed too and does not listen
		t.Fatal(err)
	}
}

// TestSocketOverflow: messages that the kernel had to drop for lack of room disturb the
// answer to a request, which is asked for again, and are told by a monitor.
func TestSocketOverflow(t *testing.T) {
	for name, tc := range map[string]struct {
		receive func(s *socket) error
		want    error
	}{
		"answer": {func(s *socket) error { _, err := s.answer(1); return err }, errInterrupted},
		"monitor": {func(s *socket) error {
			_, err := (&Monitor{monitorSocket{s}}).Next(t.Context())
			return err
		}, syscall.ENOBUFS},
	} {
		s := inGroup(t)
		for range 16 {
			toGroup(t, make([]byte, 4096))
		}
		if err := tc.receive(s); !errors.Is(err, tc.want) {
			t.Errorf("%s: error %v, want one that matches %v", name, err, tc.want)
		}
	}
}

// TestForeignSender: what another process sends is no answer, whatever it looks like.
func TestForeignSender(t *testing.T) {
	s := inGroup(t)
	toGroup(t, packet(nlmsgDone, 0, 1, status(0)))
	if err := s.file.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.answer(1); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("error %v, want none before the deadline", err)
	}
}

// TestMonitorContext: the end of its context ends a wait for notifications.
func TestMonitorContext(t *testing.T) {
	s := testSocket(t, unix.NETLINK_USERSOCK)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := (&Monitor{monitorSocket{s}}).Next(ctx)
		ended <- err
	}()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want one that matches context.Canceled", err)
	}
}
