package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// sizeError says that packets above a size are lost. It stands for the error that
// came of that, which blames somebody else.
type sizeError struct{ text string }

func (e *sizeError) Error() string { return e.text }

// smallPacket is what passes everywhere; messages up to that many bytes are not
// lost for their size.
const smallPacket = 256

// lostSize is what is known about a size at which a connection broke.
type lostSize struct {
	remote  netip.Addr
	bad     int // bytes of the message that failed
	good    int // the largest that passed; 0 when none was tried
	pathMTU int // of the queue pair; 0 when not known
	you     endInfo
	peer    endInfo
}

// maybeSize are the classes of errors that lost packets end in.
var maybeSize = []string{"timeout", "peer-closed", "completion", "failed"}

// explainSize makes the error, or nil when the size is not the reason, as far as can
// be told: larger UDP packets than the smallest do not arrive, or smaller messages
// passed and this one needs larger packets.
func (a *app) explainSize(ctx context.Context, l lostSize, step string) error {
	if l.bad <= smallPacket {
		return nil
	}
	packet := l.bad
	if l.pathMTU != 0 {
		packet = min(l.bad, l.pathMTU)
	}
	packet += ipOverhead(l.remote.Is4())
	got := a.sys.reach(ctx, l.remote, packet)
	there := got.err == nil && got.small && !got.large // lost on the way there
	if !there && (l.good == 0 || l.pathMTU != 0 && l.good >= l.pathMTU) {
		return nil
	}
	text := fmt.Sprintf("messages of %d bytes are lost", l.bad)
	if l.good > 0 {
		text += fmt.Sprintf(", of up to %d bytes pass", l.good)
	}
	text += fmt.Sprintf(": packets of %d bytes do not get through", packet)
	switch {
	case there:
		text += " to the peer"
	case got.err == nil && got.large:
		text += " on the way back"
	}
	if l.pathMTU != 0 {
		text += fmt.Sprintf("; those of this connection carry up to %d bytes of data", l.pathMTU)
	}
	text += endMTUs(l.you, l.peer)
	return &failure{step: step, object: l.remote.String(), err: &sizeError{text},
		remedy: fmt.Sprintf("give every interface on the way, at both ends too, an MTU of %d or more; or lower that of this end's interface and connect anew", packet)}
}

// endMTUs names the MTUs of both ends, as far as they are known.
func endMTUs(you, peer endInfo) (s string) {
	if you.NetdevMTU != 0 {
		s += fmt.Sprintf("; this end's interface has an MTU of %d", you.NetdevMTU)
	}
	if peer.NetdevMTU != 0 {
		s += fmt.Sprintf("; the peer's has one of %d", peer.NetdevMTU)
	}
	return s
}

// blameSize looks whether a ping failed for its size. A single size has no smaller
// one to compare with, so a server of this program is pinged with smaller ones.
func (p *pinger) blameSize(ctx context.Context, err error) error {
	class, _ := classify(err)
	remote, parseErr := netip.ParseAddrPort(p.doc.Remote)
	if !slices.Contains(maybeSize, class) || parseErr != nil {
		return err
	}
	l := lostSize{remote: remote.Addr().Unmap(), bad: p.size, pathMTU: p.doc.PathMTU, you: p.you, peer: p.peer}
	switch {
	case p.data:
		l.good, l.bad = p.passed, p.failed
	case p.stats.verified > 0:
		return err // this size passed before
	case p.doc.Peer != nil && p.size > smallPacket:
		l.good, l.bad = p.findSize(ctx)
	}
	if sized := p.explainSize(ctx, l, describe(err).Step); sized != nil {
		return sized
	}
	return err
}

// findSize pings over a new connection with sizes from the smallest up, and
// returns the last that passed and the first that did not.
func (p *pinger) findSize(ctx context.Context) (good, bad int) {
	ctx, cancel := context.WithTimeout(ctx, 2*p.timeout)
	defer cancel()
	conn, err := p.sys.dial(ctx, &cm.Dialer{LocalAddr: p.source, Config: rping.ConnConfig(), TOS: p.tos}, p.target)
	if err != nil {
		return 0, p.size
	}
	defer conn.Close()
	for _, n := range dataSizes(p.you.NetdevMTU, p.peer.NetdevMTU) {
		if n >= p.size {
			break
		}
		client, err := rping.NewClient(conn.Transport(), n)
		if err != nil {
			return good, p.size
		}
		_, err = client.Ping(ctx)
		if err = errors.Join(err, client.Close()); err != nil {
			return good, n
		}
		good = n
	}
	return good, p.size
}
