package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// limitedHost answers packets to closed ports as Linux does: so many in a row, and
// one a second after that.
type limitedHost struct {
	now    time.Duration
	tokens time.Duration
	mtu    int // large packets need more than this when it is not 0
	silent bool
	drops  int // so many large packets get lost all the same
	deny   bool
	sent   int
}

const icmpRate, icmpBurst = time.Second, 6 * time.Second

func (h *limitedHost) answers() bool {
	if h.silent || h.tokens < icmpRate {
		return false
	}
	h.tokens -= icmpRate
	return true
}

func (h *limitedHost) round(large int) (got reachRound, err error) {
	h.sent += large
	for range large {
		switch {
		case h.mtu != 0:
		case h.drops > 0:
			h.drops--
		case h.answers():
			got.large = true
		}
	}
	got.small, got.tooLarge = h.answers(), h.deny
	if !got.large || !got.small {
		h.now += reachWait
		h.tokens = min(h.tokens+reachWait, icmpBurst)
	}
	return got, nil
}

// TestReachRateLimit: silence is not taken for the size's fault, however few answers
// the far end still gives.
func TestReachRateLimit(t *testing.T) {
	for tokens := time.Duration(0); tokens <= icmpBurst; tokens += icmpRate / 4 {
		for drops := range 2 {
			if got := judge(t.Context(), (&limitedHost{tokens: tokens, drops: drops}).round); got != (reachability{small: true, large: true}) {
				t.Errorf("healthy, answers left %v, %d lost: %+v", tokens, drops, got)
			}
		}
		h := &limitedHost{tokens: tokens, mtu: 1000}
		if got := judge(t.Context(), h.round); got != (reachability{small: true}) || h.sent < reachLost {
			t.Errorf("narrow, answers left %v: %+v after %d packets", tokens, got, h.sent)
		}
		if h.now > 3*time.Second {
			t.Errorf("narrow, answers left %v: took %v, a stage has 3s", tokens, h.now)
		}
	}
}

func TestReachJudge(t *testing.T) {
	if got := judge(t.Context(), (&limitedHost{silent: true}).round); got != (reachability{}) {
		t.Errorf("a silent host: %+v", got)
	}
	if got := judge(t.Context(), (&limitedHost{tokens: icmpRate, mtu: 1000, deny: true}).round); got != (reachability{small: true}) {
		t.Errorf("a router that says no: %+v", got)
	}
	once := 0
	got := judge(t.Context(), func(int) (reachRound, error) { once++; return reachRound{small: once == 1}, nil })
	if !errors.Is(got.err, errFewAnswers) || got.small {
		t.Errorf("a host that answers once: %+v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := judge(ctx, func(int) (reachRound, error) { return reachRound{small: true}, nil }); !errors.Is(got.err, errFewAnswers) {
		t.Errorf("no time: %+v", got)
	}
	broken := errors.New("no socket")
	if got := judge(t.Context(), func(int) (reachRound, error) { return reachRound{}, broken }); got.err != broken {
		t.Errorf("an error: %+v", got)
	}
}
