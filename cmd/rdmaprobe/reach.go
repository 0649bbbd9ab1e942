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

// Looking whether packets of a size arrive. Linux answers at most six packets to
// a closed port in a row, and one a second after that (icmp_ratelimit), so silence
// alone says nothing of the size: each large packet has a small one behind it, and
// counts as lost only when that one was answered. One answer is left to the far
// end for both? Then the large packet, which is first, has it.
const (
	reachWait  = 250 * time.Millisecond // for each answer
	reachQuiet = 6                      // silent rounds after which nothing is expected any more: longer than a second
	reachLost  = 3                      // large packets that get lost before the size is blamed
)

// reachRound is the outcome of packets sent one right after the other.
type reachRound struct {
	small, large bool // answered
	tooLarge     bool // this end or a router takes no packets of that size
}

// judge sends rounds until they tell. A round sends so many large packets, and a
// small one after them.
func judge(ctx context.Context, round func(large int) (reachRound, error)) (r reachability) {
	for quiet, lost, send := 0, 0, 1; quiet < reachQuiet; {
		got, err := round(send)
		switch {
		case err != nil:
			return reachability{err: err}
		case got.large:
			return reachability{small: true, large: true}
		case got.small && got.tooLarge:
			return reachability{small: true}
		case got.small:
			quiet, lost = 0, lost+send
			send = reachLost - lost
		default:
			quiet++
		}
		r.small = r.small || got.small
		if lost >= reachLost {
			return r
		}
		if ctx.Err() != nil {
			return reachability{err: errFewAnswers}
		}
	}
	if r.small {
		return reachability{err: errFewAnswers}
	}
	return r
}

// errFewAnswers: the far end answers too rarely to tell lost packets by it.
var errFewAnswers = errors.New("the far end answers too few test packets")

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
