package main

import (
	"context"
	"time"
)

// pace says when the next of many is due: one in each interval, however long each
// takes. What a delay made it miss is not made up for, or an hour of silence would
// end in thousands at once.
type pace struct {
	interval time.Duration
	due      time.Time
}

// newPace is for a first one that is due now.
func newPace(interval time.Duration, now time.Time) *pace { return &pace{interval, now} }

// next returns how long to wait for the next one.
func (p *pace) next(now time.Time) time.Duration {
	p.due = p.due.Add(p.interval)
	if p.due.Before(now) {
		p.due = now
	}
	return p.due.Sub(now)
}

// sleep waits for the next one. It returns early when something is done, and false
// when ctx ends.
func (p *pace) sleep(ctx context.Context, done <-chan struct{}) bool {
	wait := p.next(time.Now())
	if wait == 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
	case <-done:
	case <-ctx.Done():
		return false
	}
	return ctx.Err() == nil
}
