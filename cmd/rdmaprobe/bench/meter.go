package bench

import (
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// longest is the longest latency that is told apart from longer ones.
const longest = int64(time.Minute)

// A meter counts while a loop runs. Only the loop's goroutine uses it, and it
// allocates nothing between begin and end but for what OnInterval does.
type meter struct {
	p        *Params
	total    *hdrhistogram.Histogram // latencies in ns; nil with Bandwidth
	interval *hdrhistogram.Histogram
	start    time.Time
	now      time.Time
	next     time.Time // end of the interval
	since    time.Time // its start
	messages uint64
	before   uint64 // messages before the interval
	took     time.Duration
	cpu      cpuTime
	mallocs  uint64
}

// An Interval is a part of a measurement.
type Interval struct {
	At       time.Duration // its end, from the start
	Took     time.Duration
	Messages uint64
	Size     int
	Latency  Summary // zero with Bandwidth
}

// A Summary is what a histogram of latencies says.
type Summary struct {
	Count                      uint64
	Min, Max, Mean, Stddev     time.Duration
	P50, P90, P99, P999, P9999 time.Duration
}

func newMeter(p *Params) *meter {
	m := &meter{p: p}
	if p.Test == Latency {
		m.total, m.interval = hdrhistogram.New(1, longest, 3), hdrhistogram.New(1, longest, 3)
	}
	return m
}

func (m *meter) begin() {
	runtime.GC() // not in the middle
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.mallocs = stats.Mallocs
	m.cpu = processCPU()
	m.start = time.Now()
	m.now, m.since, m.next = m.start, m.start, m.start.Add(m.p.Interval)
}

// more tells whether the measurement goes on.
func (m *meter) more() bool {
	if m.p.Messages > 0 {
		return m.messages < m.p.Messages
	}
	return m.now.Sub(m.start) < m.p.Duration
}

// latency counts one message.
func (m *meter) latency(ns int64, now time.Time) {
	if ns > longest {
		ns = longest
	}
	if m.interval != nil && m.p.Interval > 0 {
		_ = m.interval.RecordValue(ns) // in range
	}
	_ = m.total.RecordValue(ns)
	m.messages++
	m.tick(now)
}

// moved counts messages that are complete.
func (m *meter) moved(n uint64) {
	m.messages += n
	m.tick(time.Now())
}

func (m *meter) tick(now time.Time) {
	m.now = now
	if m.p.Interval <= 0 || now.Before(m.next) {
		return
	}
	i := Interval{At: now.Sub(m.start), Took: now.Sub(m.since), Messages: m.messages - m.before, Size: m.p.Size}
	if m.interval != nil {
		i.Latency = summarize(m.interval)
		m.interval.Reset()
	}
	m.since, m.before, m.next = now, m.messages, now.Add(m.p.Interval)
	if m.p.OnInterval != nil {
		m.p.OnInterval(i)
	}
}

func (m *meter) end() {
	m.took = max(time.Since(m.start), 1)
	m.cpu = processCPU().minus(m.cpu)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	m.mallocs = stats.Mallocs - m.mallocs
}

func summarize(h *hdrhistogram.Histogram) Summary {
	if h.TotalCount() == 0 {
		return Summary{}
	}
	at := func(q float64) time.Duration { return time.Duration(h.ValueAtQuantile(q)) }
	return Summary{
		Count: uint64(h.TotalCount()), Min: time.Duration(h.Min()), Max: time.Duration(h.Max()),
		Mean: time.Duration(h.Mean()), Stddev: time.Duration(h.StdDev()),
		P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), P9999: at(99.99),
	}
}

// A Bar is one line of a histogram: so many latencies from From to To.
type Bar struct {
	From, To time.Duration
	Count    uint64
}

// bars divides a histogram into lines of equal width between its least value
// and its 99th percentile, and one for the rest.
func bars(h *hdrhistogram.Histogram, lines int) []Bar {
	if h.TotalCount() == 0 {
		return nil
	}
	low, high := h.Min(), h.ValueAtQuantile(99)
	width := max((high-low+int64(lines)-1)/int64(lines), 1)
	var out []Bar
	for from := low; from <= high; from += width {
		out = append(out, Bar{From: time.Duration(from), To: time.Duration(from + width)})
	}
	last := out[len(out)-1].To
	if time.Duration(h.Max()) >= last {
		out = append(out, Bar{From: last, To: time.Duration(h.Max())})
	}
	for _, b := range h.Distribution() {
		if b.Count == 0 {
			continue
		}
		i := int((b.To - low) / width) // values of a bucket are within 0.1 %
		i = max(0, min(i, len(out)-1))
		out[i].Count += uint64(b.Count)
	}
	return out
}

// A Result is one measurement.
type Result struct {
	Params   Params
	Device   string
	Local    string
	Remote   string
	MTU      int // payload of a packet, in bytes
	MaxMTU   int // the most that the device can; 0 if it does not tell
	TOS      int
	Inline   bool // messages travelled inside of their requests
	Messages uint64
	Took     time.Duration
	Latency  Summary
	Bars     []Bar
	UserCPU  time.Duration // of this process, all threads
	KernCPU  time.Duration
	// Reverse is what the server sent, with Params.Both.
	Reverse Report
	// Here is where the loop ran, There what the server said of itself.
	Here, There Place
	// Allocations of the whole process during the measurement.
	Allocations uint64
	// Moved are error counters of the device that grew meanwhile.
	Moved map[string]uint64
}

// Bytes is what all messages had.
func (r *Result) Bytes() float64 { return float64(r.Messages) * float64(r.Params.Size) }

// MiBPerSecond is the bandwidth one way, as perftest has it.
func (r *Result) MiBPerSecond() float64 { return r.Bytes() / (1 << 20) / r.Took.Seconds() }

// Rate is messages per second.
func (r *Result) Rate() float64 { return float64(r.Messages) / r.Took.Seconds() }

// ReverseRate is the messages per second that the server sent; 0 without
// Params.Both.
func (r *Result) ReverseRate() float64 {
	if r.Reverse.Took <= 0 {
		return 0
	}
	return float64(r.Reverse.Messages) / r.Reverse.Took.Seconds()
}
