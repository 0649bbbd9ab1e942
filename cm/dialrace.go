package cm

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"
)

// defaultFallbackDelay is the recommendation of RFC 8305, section 5, rounded.
const defaultFallbackDelay = 300 * time.Millisecond

// outcome is how one address of a race did.
type outcome struct {
	conn *Conn
	err  error
}

// race dials addresses of one name: the first at once, each further one when
// those before have failed or were silent for the fallback delay. The first
// connection wins; the other attempts are cancelled, and nothing of them is
// left when race returns.
func (d *Dialer) race(ctx context.Context, addrs []netip.AddrPort) (*Conn, error) {
	if len(addrs) == 1 {
		return d.DialAddr(ctx, addrs[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	dialer, done := d.forRace()
	defer done()
	results := make(chan outcome, len(addrs))
	started, ended := 0, 0
	start := func() {
		addr := addrs[started]
		started++
		go func() {
			c, err := dialer.DialAddr(ctx, addr)
			results <- outcome{c, err}
		}()
	}
	start()
	next := time.NewTicker(d.fallbackDelay())
	defer next.Stop()
	var failures []error
	for ended < started {
		select {
		case <-next.C:
		case r := <-results:
			ended++
			if r.err == nil {
				cancel()
				closeLosers(results, started-ended)
				return r.conn, nil
			}
			failures = append(failures, r.err)
		}
		if started < len(addrs) && ctx.Err() == nil {
			start()
		}
	}
	return nil, newOpError("dial", nil, attempts(failures))
}

// attempts are the errors of a dial to several addresses.
type attempts []error

// Error returns all of them in one line.
func (a attempts) Error() string {
	texts := make([]string, len(a))
	for i, err := range a {
		texts[i] = err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns all of them.
func (a attempts) Unwrap() []error { return a }

// Timeout reports whether trying again later may help: an attempt timed out, and no peer
// has refused. An address without a route, such as an IPv6 one, does not count.
func (a attempts) Timeout() bool {
	late := false
	for _, err := range a {
		if errors.Is(err, ErrRejected) {
			return false
		}
		late = late || isTimeout(err)
	}
	return late
}

// closeLosers ends connections that came about although another one had won.
func closeLosers(results <-chan outcome, n int) {
	for range n {
		if r := <-results; r.conn != nil {
			_ = r.conn.Close() // nobody is there to hear of a failure
		}
	}
}

func (d *Dialer) fallbackDelay() time.Duration {
	const never = 1<<63 - 1
	switch {
	case d.FallbackDelay == 0:
		return defaultFallbackDelay
	case d.FallbackDelay < 0:
		return never
	}
	return d.FallbackDelay
}

// forRace returns a copy for attempts in other goroutines: they keep to the
// caller's network namespace and report their steps one at a time. done is called
// after the last one.
func (d *Dialer) forRace() (dialer *Dialer, done func()) {
	copied, done := *d, func() {}
	if copied.NetNS == "" {
		copied.NetNS, done = pinNetNS()
	}
	if d.OnStep != nil {
		var mu sync.Mutex
		copied.OnStep = func(s Step) {
			mu.Lock()
			defer mu.Unlock()
			d.OnStep(s)
		}
	}
	return &copied, done
}

// interleave alternates between IPv4 and IPv6, beginning with the family of
// the first address, so that a family that does not work costs one delay.
func interleave(addrs []netip.AddrPort) []netip.AddrPort {
	var families [2][]netip.AddrPort
	for _, a := range addrs {
		i := 0
		if a.Addr().Is4() != addrs[0].Addr().Is4() {
			i = 1
		}
		families[i] = append(families[i], a)
	}
	out := make([]netip.AddrPort, 0, len(addrs))
	for i := range max(len(families[0]), len(families[1])) {
		for _, f := range families {
			if i < len(f) {
				out = append(out, f[i])
			}
		}
	}
	return out
}
