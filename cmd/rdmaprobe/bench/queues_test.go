package bench

import (
	"strings"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/uverbs"
)

// TestQueuesFit: queues are no larger than the device has, or are refused by name before
// anything is made.
func TestQueuesFit(t *testing.T) {
	rxe := &uverbs.DeviceAttr{MaxCQE: 32767, MaxQPWR: 16384} // soft-RoCE
	for name, tt := range map[string]struct {
		p    Params
		attr *uverbs.DeviceAttr
		want string // of the error; "" for none
	}{
		"default":               {Params{Op: Send, QPs: 1, Depth: 128}, rxe, ""},
		"32 queue pairs":        {Params{Op: Send, QPs: 32, Depth: 128}, rxe, ""},
		"64 queue pairs":        {Params{Op: Send, QPs: 64, Depth: 128}, rxe, ""},
		"64, nothing arrives":   {Params{Op: Write, QPs: 64, Depth: 128}, rxe, ""},
		"64, both ways":         {Params{Op: Send, QPs: 64, Depth: 128, Both: true}, rxe, ""},
		"64 writes, both ways":  {Params{Op: Write, QPs: 64, Depth: 128, Both: true}, rxe, ""},
		"depth of 8":            {Params{Op: Send, QPs: 8, Depth: 4096}, rxe, "8 queue pairs need a completion queue of 32769 entries for what is under way: dev0 has 32767"},
		"depth of 8 writes":     {Params{Op: Write, QPs: 8, Depth: 4096}, rxe, "32769 entries"},
		"depth of 7":            {Params{Op: Send, QPs: 7, Depth: 4096}, rxe, ""},
		"depth of 7, both ways": {Params{Op: Send, QPs: 7, Depth: 4096, Both: true}, rxe, "entries"},
		"a device of small rings": {Params{Op: Write, QPs: 1, Depth: 4096}, &uverbs.DeviceAttr{MaxCQE: 1 << 20, MaxQPWR: 1024},
			"a queue pair with 4096 requests under way: dev0 has 1024"},
		"few receives": {Params{Op: Send, QPs: 1, Depth: 64}, &uverbs.DeviceAttr{MaxCQE: 1 << 20, MaxQPWR: 100}, ""},
	} {
		p := tt.p
		p.Test, p.Mode, p.Size, p.Batch, p.CQMod, p.Messages = Bandwidth, Event, 64, 1, 1, 1
		r := p.request()
		err := r.fit("dev0", tt.attr, p.Depth, p.Depth)
		if tt.want != "" {
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		// What the client asks for fits a server with such a device too, as it is.
		asked := r
		if err := asked.fit("dev0", tt.attr, asked.serverDepth(), int(asked.RecvDepth)); err != nil || asked != r {
			t.Errorf("%s: the server: %v, %+v", name, err, asked)
		}
		for side, depth := range map[string]int{"client": p.Depth, "server": r.serverDepth()} {
			send, recv := r.entries(depth)
			if max(send, recv) > tt.attr.MaxCQE || r.receives() > tt.attr.MaxQPWR {
				t.Errorf("%s: the %s's queues have %d and %d entries", name, side, send, recv)
			}
		}
		if r.Op == Send && int(r.RecvDepth) < p.Depth {
			t.Errorf("%s: %d receives for %d messages under way", name, r.RecvDepth, p.Depth)
		}
	}
}

// TestQueuesRefused: a side whose queues the device does not have makes nothing.
func TestQueuesRefused(t *testing.T) {
	k := useFake(t)
	k.MaxCQE = 1000
	r := (&Params{Test: Bandwidth, Op: Write, Mode: Event, Size: 64, QPs: 8, Depth: 128, Batch: 1, CQMod: 1}).request()
	_, err := newSide(fakeDevice(), r, 128, 128)
	if err == nil || !strings.Contains(err.Error(), "rxe0 has 1000 at most; fewer queue pairs or less depth") {
		t.Errorf("error %v", err)
	}
	for _, call := range k.Calls() {
		if strings.Contains(call, "CQ") || strings.Contains(call, "PD") || strings.Contains(call, "MR") {
			t.Errorf("call %s", call)
		}
	}
}

// TestEachFailureOfSide fails each call in turn: the client is refused with the cause, the
// server goes on, and nothing is left.
func TestEachFailureOfSide(t *testing.T) {
	for n := 0; ; n++ {
		k := useFake(t)
		k.FailCall(n, syscall.ENOMEM)
		k.SpareDestroys = true
		srv, refused := startFake()
		id := newFakeID("10.0.0.2:4000")
		srv.take(t.Context(), id, ask(wish(1)))
		waitFor(t, "an answer", func() bool { return refused.Load() == 1 || srv.began(1) })
		done := refused.Load() == 0
		srv.close()
		if tests, memory := srv.taken(); tests != 0 || memory != 0 {
			t.Errorf("call %d: left: %d tests, %d bytes", n, tests, memory)
		}
		if left := k.Survivors(); len(left) != 0 {
			t.Errorf("call %d: left: %v", n, left)
		}
		if done {
			if n < 5 {
				t.Errorf("only %d calls were made to fail", n)
			}
			return
		}
	}
}
