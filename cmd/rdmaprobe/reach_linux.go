package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	reachSmall = 64                     // bytes of a packet that passes everywhere
	reachWait  = 250 * time.Millisecond // for each answer
	reachTries = 3                      // of each size: packets and answers may be lost
	reachPort  = 33471                  // as traceroute has them: hardly anybody listens
)

// reach sends UDP packets that must not be cut up, and takes the far end's
// "port unreachable" for a sign that they arrived. Linux sends at most six of
// these in a row to one peer (icmp_ratelimit).
func reach(ctx context.Context, dst netip.Addr, size int) (r reachability) {
	start := time.Now()
	defer func() { r.took = time.Since(start) }()
	if r.small, r.err = arrives(ctx, dst, reachSmall, reachPort); !r.small {
		return r
	}
	r.large, r.err = arrives(ctx, dst, size, reachPort+1)
	return r
}

func arrives(ctx context.Context, dst netip.Addr, size, port int) (bool, error) {
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error { return dontFragment(c, dst) }}
	conn, err := d.DialContext(ctx, "udp", net.JoinHostPort(dst.String(), strconv.Itoa(port)))
	if err != nil {
		return false, err
	}
	defer conn.Close()
	header := 40 + 8
	if dst.Is4() {
		header = 20 + 8
	}
	payload, answer := make([]byte, max(size-header, 0)), make([]byte, 1)
	for range reachTries {
		if _, err := conn.Write(payload); err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
			if errors.Is(err, syscall.EMSGSIZE) {
				return false, nil // this end takes no such packets
			}
			return false, fmt.Errorf("send a test packet: %w", err)
		}
		deadline := time.Now().Add(reachWait)
		if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
			deadline = d
		}
		if err := conn.SetReadDeadline(deadline); err != nil {
			return false, err
		}
		switch _, err := conn.Read(answer); {
		case err == nil, errors.Is(err, syscall.ECONNREFUSED):
			return true, nil
		case errors.Is(err, syscall.EMSGSIZE):
			return false, nil // a router says that it is too large
		}
		if err := ctx.Err(); err != nil {
			return false, err
		}
	}
	return false, nil
}

// dontFragment sets that packets go as they are, whatever the kernel believes
// of the path.
func dontFragment(c syscall.RawConn, dst netip.Addr) error {
	var optErr error
	err := c.Control(func(fd uintptr) {
		if dst.Is4() {
			optErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_PROBE)
			return
		}
		optErr = unix.SetsockoptInt(int(fd), unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER, unix.IPV6_PMTUDISC_PROBE)
	})
	return errors.Join(err, optErr)
}
