package main

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/uverbs"
)

const addrRemedy = "write HOST, HOST:PORT, an IPv6 address such as fe80::1%eth0, or [fe80::1%eth0]:PORT"

// hostPort completes an address as users write it to host:port, the form that
// package cm takes. An IPv6 address alone needs no brackets.
func hostPort(s string) (string, error) {
	bad := func(why string) (string, error) {
		return "", &usageError{msg: "address " + strconv.Quote(s) + ": " + why, remedy: addrRemedy}
	}
	port := strconv.Itoa(rping.DefaultPort)
	if ip, err := netip.ParseAddr(s); err == nil {
		if strings.Contains(ip.Zone(), ":") {
			return bad("a port after an IPv6 address needs brackets around the address")
		}
		return net.JoinHostPort(s, port), nil
	}
	host, given, err := net.SplitHostPort(s)
	switch {
	case err == nil:
		port = given
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		host = s[1 : len(s)-1]
	case strings.Contains(s, ":"):
		return bad("neither host:port nor an IPv6 address")
	default:
		host = s
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return bad("port " + strconv.Quote(port) + " is not a number from 0 to 65535")
	}
	if strings.Contains(host, ":") {
		if ip, err := netip.ParseAddr(host); err != nil || !ip.Is6() {
			return bad(strconv.Quote(host) + " is not an IPv6 address")
		}
	}
	return net.JoinHostPort(host, port), nil
}

// targetAddress is hostPort for something to connect to.
func targetAddress(s string) (string, error) {
	hp, err := hostPort(s)
	if err != nil {
		return "", err
	}
	host, port, _ := net.SplitHostPort(hp) // hostPort made it
	if host == "" || port == "0" {
		return "", &usageError{msg: "address " + strconv.Quote(s) + ": host and port must be given", remedy: addrRemedy}
	}
	return hp, nil
}

// sourceAddress reads the address to connect from; port 0 when none is given.
func sourceAddress(s string) (netip.AddrPort, error) {
	if s == "" {
		return netip.AddrPort{}, nil
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap, nil
	}
	host := s
	if strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]") {
		host = s[1 : len(s)-1]
	}
	ip, err := netip.ParseAddr(host)
	if err != nil || strings.ContainsAny(ip.Zone(), ":]") {
		return netip.AddrPort{}, &usageError{msg: "source " + strconv.Quote(s) + ": not an IP address", remedy: addrRemedy}
	}
	return netip.AddrPortFrom(ip, 0), nil
}

// portAddresses lists the IP addresses that a port of a device can be reached
// at. Loopback addresses are none of them: the connection manager takes them for
// something else, and a peer never reaches them.
func (a *app) portAddresses(d *uverbs.Device, p uverbs.PortInfo) []string {
	out := []string{}
	gids, err := a.sys.gids(d, p.Number)
	if err != nil {
		return out // list tells; here it is only an extra
	}
	have := a.sys.addresses()
	for _, g := range gids {
		if ip := addressOf(g, p, have); ip.IsValid() && !ip.IsLoopback() {
			out = append(out, ip.String())
		}
	}
	return out
}

func joinList(s []string) string { return strings.Join(s, ", ") }
