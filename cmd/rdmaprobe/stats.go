package main

import (
	"fmt"
	"math"
	"time"
)

// stats sums up round trip times the way ping(8) does.
type stats struct {
	sent, verified uint64
	min, max       float64 // milliseconds
	sum, squares   float64
}

// add counts a ping that came back right.
func (s *stats) add(d time.Duration) {
	ms := float64(d) / float64(time.Millisecond)
	if s.verified == 0 || ms < s.min {
		s.min = ms
	}
	s.max = max(s.max, ms)
	s.sum += ms
	s.squares += ms * ms
	s.verified++
}

// join adds what others counted.
func (s *stats) join(o *stats) {
	if o.verified > 0 {
		if s.verified == 0 || o.min < s.min {
			s.min = o.min
		}
		s.max = max(s.max, o.max)
	}
	s.sent, s.verified = s.sent+o.sent, s.verified+o.verified
	s.sum, s.squares = s.sum+o.sum, s.squares+o.squares
}

func (s *stats) loss() float64 {
	if s.sent == 0 {
		return 0
	}
	return float64(s.sent-s.verified) * 100 / float64(s.sent)
}

// rtt returns the times rounded to a microsecond.
func (s *stats) rtt() rttDoc {
	if s.verified == 0 {
		return rttDoc{}
	}
	n := float64(s.verified)
	avg := s.sum / n
	// Rounding can make the difference of two close numbers negative.
	mdev := math.Sqrt(max(0, s.squares/n-avg*avg))
	round := func(ms float64) float64 { return math.Round(ms*1000) / 1000 }
	return rttDoc{MinMS: round(s.min), AvgMS: round(avg), MaxMS: round(s.max), MdevMS: round(mdev)}
}

// String returns the times as ping(8) prints them.
func (r rttDoc) String() string {
	return fmt.Sprintf("%.3f/%.3f/%.3f/%.3f ms", r.MinMS, r.AvgMS, r.MaxMS, r.MdevMS)
}
