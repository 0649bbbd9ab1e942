package bench

import "time"

// stallTime is how long a client waits for any completion of small messages. Lost
// packets are sent again within a few seconds, and seven times before that fails; but
// reads whose first packets are lost, and whose last ones are not, are sent again
// without end.
const stallTime = 30 * time.Second

// slowest is a rate that every device has, in bytes for a second.
const slowest = 1 << 20

// A stalled error says that nothing completed for so long. It is a time-out.
type stalled struct{ after time.Duration }

func (e stalled) Error() string { return "no message completed for " + e.after.String() }
func (stalled) Timeout() bool   { return true }

// stallLimit is how long a client waits for the next completion.
func stallLimit(p *Params) time.Duration {
	bytes := p.Size * max(p.CQMod, 1)
	return stallTime + time.Duration(bytes/slowest)*time.Second
}

// watchdog ends a side on which nothing completes or arrives any more.
func (s *side) watchdog(limit time.Duration, why error) {
	tick := time.NewTicker(limit)
	defer tick.Stop()
	last := s.beats.Load()
	for {
		select {
		case <-s.done:
			return
		case <-tick.C:
		}
		now := s.beats.Load()
		if now == last {
			s.stop(why)
			return
		}
		last = now
	}
}
