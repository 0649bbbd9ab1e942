package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
)

const destinationRemedy = "write a host name or an IP address, such as 10.0.0.7 or fe80::1%eth0"

// destination reads an address to look at, with or without a port, which does
// not matter. A link-local one without its zone is refused at once, with what
// the zone could be.
func (a *app) destination(ctx context.Context, s string, netdevs netinfo.Netdevs) (netip.Addr, error) {
	ip, err := a.parseDestination(ctx, s)
	if err != nil {
		return netip.Addr{}, err
	}
	ip = ip.Unmap()
	if ip.IsUnspecified() || ip.IsMulticast() {
		return netip.Addr{}, &usageError{msg: fmt.Sprintf("address %v: not that of a host", ip), remedy: destinationRemedy}
	}
	if !ip.Is6() || !ip.IsLinkLocalUnicast() {
		return ip.WithZone(""), nil
	}
	return a.withZone(ip, netdevs)
}

func (a *app) parseDestination(ctx context.Context, s string) (netip.Addr, error) {
	if ip, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return ip, nil
	}
	host := s
	if h, _, err := net.SplitHostPort(s); err == nil {
		host = h
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, nil
	}
	if host == "" || strings.ContainsAny(host, ":%[] ") {
		return netip.Addr{}, &usageError{msg: "address " + strconv.Quote(s) + ": not understood", remedy: destinationRemedy}
	}
	found, err := a.sys.lookup(ctx, host)
	if err != nil {
		return netip.Addr{}, &failure{step: "resolve name", object: host, err: err}
	}
	if len(found) == 0 {
		return netip.Addr{}, &failure{step: "resolve name", object: host, err: &net.DNSError{Err: "no address", Name: host, IsNotFound: true}}
	}
	return found[0], nil
}

// withZone completes the zone of a link-local address; numbers become names.
func (a *app) withZone(ip netip.Addr, netdevs netinfo.Netdevs) (netip.Addr, error) {
	zone := ip.Zone()
	if n, err := strconv.Atoi(zone); err == nil {
		if d, ok := netdevs.ByIndex(n); ok {
			return ip.WithZone(d.Name), nil
		}
	}
	if _, ok := netdevs.ByName(zone); ok || zone != "" && netdevs == nil {
		return ip, nil
	}
	candidates := a.zones(ip, netdevs)
	msg := fmt.Sprintf("address %v: a link-local address needs a zone, the interface to use", ip)
	if zone != "" {
		msg = fmt.Sprintf("address %v: there is no interface %s", ip, zone)
	}
	remedy := "no interface has a link-local address itself"
	if len(candidates) > 0 {
		remedy = "write " + strings.Join(candidates, " or ")
	}
	return netip.Addr{}, &usageError{msg: msg, remedy: remedy}
}

// checkZone refuses a link-local address that lacks its zone. Without a list of
// interfaces the connection finds out.
func (a *app) checkZone(ip netip.Addr) error {
	netdevs, err := a.sys.netdevs()
	if err != nil {
		return nil
	}
	_, err = a.withZone(ip, netdevs)
	return err
}

// checkTarget is checkZone for host:port; names pass.
func (a *app) checkTarget(target string) error {
	ap, err := netip.ParseAddrPort(target)
	if err != nil || !ap.Addr().Is6() || !ap.Addr().IsLinkLocalUnicast() {
		return nil
	}
	return a.checkZone(ap.Addr())
}

// zones lists what a zone could be: interfaces with RDMA, or else all.
func (a *app) zones(ip netip.Addr, netdevs netinfo.Netdevs) []string {
	rows, _ := a.gidRows(netdevs)
	var all, rdma []string
	for _, name := range netdevs.Zones() {
		all = append(all, ip.WithZone(name).String())
		if slices.ContainsFunc(rows, func(r gidpick.Row) bool { return r.On(name) }) {
			rdma = append(rdma, ip.WithZone(name).String())
		}
	}
	if len(rdma) > 0 {
		return rdma
	}
	return all
}
