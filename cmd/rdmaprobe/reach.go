package main

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"time"
)

// reachability is whether IP packets arrive, small ones and large ones.
type reachability struct {
	small, large bool
	err          error // why nothing is known
	took         time.Duration
}

// discardPort is where packets that nobody wants go.
const discardPort = 9

// poke sends an empty datagram, which makes the kernel look for the neighbour.
func poke(ctx context.Context, dst netip.Addr) error {
	conn, err := new(net.Dialer).DialContext(ctx, "udp", net.JoinHostPort(dst.String(), strconv.Itoa(discardPort)))
	if err != nil {
		return err
	}
	_, err = conn.Write(nil)
	return errors.Join(err, conn.Close())
}
