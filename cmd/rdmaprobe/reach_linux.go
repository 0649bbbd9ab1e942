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
	reachSmall = 64                    // bytes of a packet that passes everywhere
	reachLate  = 20 * time.Millisecond // to pick up the answer to a packet, once it was waited for that to another
	reachPort  = 33471                 // as traceroute has them: hardly anybody listens
)

// reach sends UDP packets that must not be cut up, and takes the far end's
// "port unreachable" for a sign that they arrived.
func reach(ctx context.Context, dst netip.Addr, size int) reachability {
	start := time.Now()
	r := judge(ctx, func(large int) (reachRound, error) { return sendRound(ctx, dst, size, large) })
	r.took = time.Since(start)
	return r
}

// sendRound uses sockets of its own, so that a late answer to another round is none
// to this one.
func sendRound(ctx context.Context, dst netip.Addr, size, large int) (reachRound, error) {
	big, err := dialProbe(ctx, dst, size, reachPort+1)
	if err != nil {
		return reachRound{}, err
	}
	defer big.conn.Close()
	small, err := dialProbe(ctx, dst, reachSmall, reachPort)
	if err != nil {
		return reachRound{}, err
	}
	defer small.conn.Close()
	for range large {
		if err := big.send(); err != nil {
			return reachRound{}, err
		}
	}
	if err := small.send(); err != nil {
		return reachRound{}, err
	}
	deadline := time.Now().Add(reachWait)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	big.wait(deadline)
	small.wait(deadline.Add(reachLate))
	return reachRound{small: small.answered, large: big.answered, tooLarge: big.tooLarge}, nil
}

// probeSocket sends packets of one size to one port.
type probeSocket struct {
	conn               net.Conn
	payload            []byte
	answered, tooLarge bool
}

func dialProbe(ctx context.Context, dst netip.Addr, size, port int) (*probeSocket, error) {
	d := net.Dialer{Control: func(_, _ string, c syscall.RawConn) error { return dontFragment(c, dst) }}
	conn, err := d.DialContext(ctx, "udp", net.JoinHostPort(dst.String(), strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	header := 40 + 8
	if dst.Is4() {
		header = 20 + 8
	}
	return &probeSocket{conn: conn, payload: make([]byte, max(size-header, 0))}, nil
}

// send sends a packet, unless something is known already: the answer to one before
// it comes as the error of this one.
func (p *probeSocket) send() error {
	if p.answered || p.tooLarge {
		return nil
	}
	if _, err := p.conn.Write(p.payload); err != nil && !p.note(err) {
		return fmt.Errorf("send a test packet: %w", err)
	}
	return nil
}

// wait waits for an answer. Another error than that is no answer.
func (p *probeSocket) wait(deadline time.Time) {
	if p.answered || p.tooLarge || p.conn.SetReadDeadline(deadline) != nil {
		return
	}
	_, err := p.conn.Read(make([]byte, 1))
	p.note(err)
}

// note reads an answer from an error, and reports whether it was one.
func (p *probeSocket) note(err error) bool {
	switch {
	case err == nil, errors.Is(err, syscall.ECONNREFUSED):
		p.answered = true
	case errors.Is(err, syscall.EMSGSIZE):
		p.tooLarge = true // this end or a router says so
	default:
		return false
	}
	return true
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
