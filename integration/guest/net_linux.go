//go:build linux

package main

import (
	"fmt"
	"net"
	"time"

	"github.com/vishvananda/netlink"
)

// barrierPort is where guests of one segment wait for each other.
const (
	barrierPort = "7"
	barrierTime = 60 * time.Second
)

// setupNetwork brings up lo and, unless told otherwise, one Ethernet interface
// with a soft-RoCE device rxe0 or a soft-iWARP device siw0 on it: a veth end when the guest is alone, the
// virtual network card when there are several.
func setupNetwork(conf *config) error {
	if err := linkUp("lo"); err != nil {
		return err
	}
	name := "v0"
	switch {
	case conf.nodes > 1:
		name = "eth0"
	case conf.setup == "full" || conf.setup == "net":
		if err := addVeth("v0", "v1"); err != nil {
			return err
		}
	default:
		return nil
	}
	if err := address(name, conf.addresses()...); err != nil {
		return err
	}
	// A connection attempt while the interface is down poisons the special QP of
	// the rxe device on every kernel, so the order matters: up, then rxe.
	if conf.setup == "full" {
		if err := netlink.RdmaLinkAdd(conf.link+"0", conf.link, name); err != nil {
			return fmt.Errorf("add %s0 on %s: %w", conf.link, name, err)
		}
	}
	if conf.nodes > 1 {
		return meet(conf)
	}
	return nil
}

// addresses are those of this guest's interface.
func (c *config) addresses() []string {
	if c.nodes == 1 {
		return []string{"10.77.0.1/24", "fd00:77::1/64"}
	}
	return []string{
		fmt.Sprintf("10.78.0.%d/24", c.node+1),
		fmt.Sprintf("fd00:78::%x/64", c.node+1),
	}
}

func linkUp(name string) error {
	link, err := netlink.LinkByName(name)
	if err != nil {
		return fmt.Errorf("find interface %s: %w", name, err)
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("bring up %s: %w", name, err)
	}
	return nil
}

func addVeth(a, b string) error {
	attrs := netlink.NewLinkAttrs()
	attrs.Name = a
	if err := netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: b}); err != nil {
		return fmt.Errorf("add veth pair %s %s: %w", a, b, err)
	}
	return linkUp(b)
}

// address brings the interface up and gives it addresses that are usable at once.
func address(name string, cidrs ...string) error {
	if err := linkUp(name); err != nil {
		return err
	}
	link, err := netlink.LinkByName(name)
	if err != nil {
		return err
	}
	for _, cidr := range cidrs {
		addr, err := netlink.ParseAddr(cidr)
		if err != nil {
			return err
		}
		if addr.IP.To4() == nil {
			addr.Flags = ifaFNoDAD
		}
		if err := netlink.AddrAdd(link, addr); err != nil {
			return fmt.Errorf("add address %s to %s: %w", cidr, name, err)
		}
	}
	return nil
}

// ifaFNoDAD is IFA_F_NODAD: no duplicate address detection.
const ifaFNoDAD = 0x02

// meet returns when every guest can reach every other, so that the binaries
// start together and with warm neighbour tables.
func meet(conf *config) error {
	l, err := net.Listen("tcp", fmt.Sprintf("10.78.0.%d:%s", conf.node+1, barrierPort))
	if err != nil {
		return err
	}
	all := make(chan struct{})
	go answerGuests(l, conf.nodes-1, all)
	deadline := time.Now().Add(barrierTime)
	for n := range conf.nodes {
		if n == conf.node {
			continue
		}
		if err := reach(n, deadline); err != nil {
			return err
		}
	}
	select {
	case <-all:
		return nil
	case <-time.After(time.Until(deadline)):
		return fmt.Errorf("not every node came up within %v", barrierTime)
	}
}

// answerGuests closes all when so many guests have called, and goes on answering
// as long as this guest lives: one whose call was counted here may have given up
// waiting for it meanwhile, and calls again.
func answerGuests(l net.Listener, guests int, all chan<- struct{}) {
	seen := map[string]bool{}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		_ = c.Close()
		if seen[host] {
			continue
		}
		seen[host] = true
		if len(seen) == guests {
			close(all)
		}
	}
}

func reach(node int, deadline time.Time) error {
	addr := fmt.Sprintf("10.78.0.%d:%s", node+1, barrierPort)
	for {
		c, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("node %d: %w", node, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
