package bench

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

var good = request{Test: Bandwidth, Op: Write, Mode: Adaptive, SpinUS: 50, Size: 4096, RecvDepth: 512, Inline: 220, Index: 1, QPs: 2,
	Token: 1 << 63, Addr: 0x7f0000000000, RKey: 77, Depth: 128, Batch: 4, CQMod: 100, Timed: true, Limit: 1 << 31}

func TestRequestWire(t *testing.T) {
	b := good.marshal()
	if len(b) != requestSize {
		t.Fatalf("%d bytes", len(b))
	}
	var got request
	if err := got.unmarshal(append(b, make([]byte, 12)...)); err != nil { // padded, as it arrives
		t.Fatal(err)
	}
	if diff := cmp.Diff(good, got); diff != "" {
		t.Error(diff)
	}
	reply1 := reply{Addr: 1 << 40, RKey: 5, Size: 64, Place: Place{Device: 3, CPU: -1, Mbps: 400_000}}
	var reply2 reply
	if err := reply2.unmarshal(reply1.marshal()); err != nil || reply1 != reply2 {
		t.Errorf("%+v, %v", reply2, err)
	}
}

func TestRequestRefused(t *testing.T) {
	for name, change := range map[string]func(*request){
		"test": func(r *request) { r.Test = 3 }, "operation": func(r *request) { r.Op = 0 }, "mode": func(r *request) { r.Mode = 9 },
		"no size": func(r *request) { r.Size = 0 }, "size": func(r *request) { r.Size = MaxSize + 1 },
		"no depth": func(r *request) { r.RecvDepth = 0 }, "depth": func(r *request) { r.RecvDepth = MaxDepth + 1 },
		"index": func(r *request) { r.Index = 2 }, "queue pairs": func(r *request) { r.QPs = MaxQPs + 1 },
		"latency of two":    func(r *request) { r.Test, r.Limit = Latency, 0 },
		"latency both ways": func(r *request) { r.Test, r.QPs, r.Index = Latency, 1, 0 }, "spin": func(r *request) { r.SpinUS = 1 << 31 },
		"depth of the server": func(r *request) { r.Depth = 0 }, "its batch": func(r *request) { r.Batch = 129 },
		"its completions": func(r *request) { r.CQMod = 0 },
		"address wraps":   func(r *request) { r.Addr = ^uint64(0) },
	} {
		r := good
		change(&r)
		var got request
		if err := got.unmarshal(r.marshal()); !errors.Is(err, ErrProtocol) || got != (request{}) {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	for _, b := range [][]byte{nil, make([]byte, 56), good.marshal()[:requestSize-1]} {
		if err := new(request).unmarshal(b); !errors.Is(err, ErrProtocol) {
			t.Errorf("%x: %v", b, err)
		}
	}
}

// TestBothParams: the server measures what the client does.
func TestBothParams(t *testing.T) {
	for _, p := range []Params{
		{Test: Bandwidth, Op: Write, Mode: Event, Size: 512, QPs: 2, Depth: 64, Batch: 4, CQMod: 16, Inline: 32, Messages: 1000},
		{Test: Bandwidth, Op: Send, Mode: Poll, Size: 512, QPs: 1, Depth: 64, Batch: 1, CQMod: 16, Duration: 1500 * time.Millisecond},
	} {
		r := p.request()
		if r.both() {
			t.Errorf("one way became both: %+v", r)
		}
		p.Both = true
		r = p.request()
		if diff := cmp.Diff(p, r.params()); diff != "" {
			t.Error(diff)
		}
	}
}

func TestReport(t *testing.T) {
	want := Report{Messages: 5, Took: time.Second}
	for _, size := range []int{1, 24, 32, 4096} {
		n := reportSize(size)
		if n == size {
			t.Errorf("a report is as long as a message of %d bytes", size)
		}
		b := make([]byte, n)
		want.put(b)
		var got Report
		if err := got.take(b); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
		for _, bad := range [][]byte{nil, b[:23], make([]byte, n)} {
			if err := new(Report).take(bad); !errors.Is(err, ErrProtocol) {
				t.Errorf("%x: %v", bad, err)
			}
		}
		Report{Messages: 1}.put(b)
		if err := new(Report).take(b); !errors.Is(err, ErrProtocol) {
			t.Errorf("no time: %v", err)
		}
	}
}

func FuzzReport(f *testing.F) {
	b := make([]byte, 24)
	Report{Messages: 1, Took: 2}.put(b)
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Report
		if err := r.take(b); err == nil && r.Took <= 0 {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzRequest(f *testing.F) {
	f.Add(good.marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		var r request
		if err := r.unmarshal(b); err != nil {
			return
		}
		if r.Size == 0 || r.Size > MaxSize || r.QPs == 0 || r.QPs > MaxQPs || r.Index >= r.QPs || r.RecvDepth > MaxDepth ||
			r.both() && (r.Depth == 0 || r.Depth > MaxDepth || r.Batch > r.Depth || r.CQMod == 0) {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzReply(f *testing.F) {
	f.Add((&reply{Addr: 1, RKey: 2, Size: 3}).marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		var r reply
		if err := r.unmarshal(b); err == nil && (r.Size == 0 || r.Addr+uint64(r.Size) < r.Addr) {
			t.Errorf("accepted %+v", r)
		}
	})
}

func TestMeter(t *testing.T) {
	var parts []Interval
	p := &Params{Test: Latency, Messages: 4, Size: 8, Interval: time.Millisecond, OnInterval: func(i Interval) { parts = append(parts, i) }}
	m := newMeter(p)
	m.begin()
	now := m.start
	for _, us := range []int{100, 200, 300, 1000} {
		if !m.more() {
			t.Fatal("ended early")
		}
		now = now.Add(400 * time.Microsecond)
		m.latency(int64(us)*1000, now)
	}
	if m.more() {
		t.Error("does not end")
	}
	m.end()
	if len(parts) != 1 || parts[0].Messages != 3 || parts[0].Latency.Count != 3 || parts[0].At != 1200*time.Microsecond {
		t.Errorf("intervals %+v", parts)
	}
	s := summarize(m.total)
	if s.Count != 4 || s.P50 < 199*time.Microsecond || s.P50 > 201*time.Microsecond || s.Max < 999*time.Microsecond {
		t.Errorf("summary %+v", s)
	}
}

// TestMeterAllocates: nothing, while a loop runs.
func TestMeterAllocates(t *testing.T) {
	m := newMeter(&Params{Test: Latency, Duration: time.Hour, Interval: time.Hour})
	m.begin()
	now := m.start
	if n := testing.AllocsPerRun(1000, func() { m.latency(12345, now); m.more() }); n != 0 {
		t.Errorf("%v allocations a message", n)
	}
}

func TestBars(t *testing.T) {
	h := hdrhistogram.New(1, longest, 3)
	for i := range int64(1000) {
		_ = h.RecordValue(10_000 + i)
	}
	_ = h.RecordValue(5_000_000)
	got := bars(h, 10)
	var sum uint64
	for i, b := range got {
		sum += b.Count
		if i > 0 && b.From != got[i-1].To {
			t.Errorf("a gap before %+v", b)
		}
	}
	if sum != 1001 || len(got) != 11 || got[10].Count < 1 || got[10].To < 4900*time.Microsecond {
		t.Errorf("%d in %+v", sum, got)
	}
	if bars(hdrhistogram.New(1, 10, 1), 5) != nil {
		t.Error("bars of nothing")
	}
}

// TestWatchdog: a side on which nothing arrives ends, and one that lives does
// not.
func TestWatchdog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &side{done: make(chan struct{})}
		go s.watchdog(30*time.Second, errIdle)
		for range 100 {
			s.beats.Add(1)
			time.Sleep(5 * time.Second)
		}
		if s.stopped.Load() {
			t.Error("ended while messages arrived")
		}
		last := time.Now()
		<-s.done
		if !errors.Is(s.reason(), errIdle) {
			t.Errorf("reason %v", s.reason())
		}
		if d := time.Since(last); d > time.Minute {
			t.Errorf("noticed after %v", d)
		}
	})
}

func TestMoved(t *testing.T) {
	got := moved(map[string]uint64{"a": 1, "b": 2}, map[string]uint64{"a": 4, "b": 2, "c": 9})
	if diff := cmp.Diff(map[string]uint64{"a": 3}, got); diff != "" {
		t.Error(diff)
	}
}
