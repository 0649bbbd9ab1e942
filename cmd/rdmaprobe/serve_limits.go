package main

import (
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// Limits of serve. Anybody who reaches it may connect, and under several addresses.
const (
	maxClients     = 1024 // at a time
	maxPeerClients = 256  // of one address
	// maxRefusing is how many are refused at a time; the next requests wait.
	maxRefusing = 64
	// firstPing is how long a client may take from its connection to its first ping.
	firstPing = 30 * time.Second
)

// serveLimits is what the help of serve says of them.
var serveLimits = fmt.Sprintf(`It serves %d clients at a time, %d of one address; others are refused with that
reason. A client whose first ping does not come within %d seconds is dropped.`,
	maxClients, maxPeerClients, int(firstPing.Seconds()))

// clientCount is how many clients there are, by address.
type clientCount struct {
	mu  sync.Mutex
	all int
	of  map[netip.Addr]int
}

// enter counts a client, unless there are too many. The error is for the client to read.
func (c *clientCount) enter(peer netip.Addr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.of[peer] >= maxPeerClients:
		return fmt.Errorf("%d clients of %v are here, no more are served at a time", c.of[peer], peer)
	case c.all >= maxClients:
		return fmt.Errorf("%d clients are here, no more are served at a time", c.all)
	}
	if c.of == nil {
		c.of = map[netip.Addr]int{}
	}
	c.all++
	c.of[peer]++
	return nil
}

func (c *clientCount) leave(peer netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all--
	if c.of[peer]--; c.of[peer] == 0 {
		delete(c.of, peer)
	}
}

// clientAddress is the address without its port; invalid for what is no IP address.
func clientAddress(a net.Addr) netip.Addr {
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap()
}
