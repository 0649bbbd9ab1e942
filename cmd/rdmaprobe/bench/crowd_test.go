package bench

import "testing"

func TestCrowd(t *testing.T) {
	procs := 4
	set := func(n int) int {
		was := procs
		if n > 0 {
			procs = n
		}
		return was
	}
	c := crowd{set: set, reset: func(n int) { set(n) }}
	var leave []func()
	enter := func(m Mode) func() {
		return func() { leave = append(leave, c.enter(m)) }
	}
	end := func(i int) func() {
		return func() { leave[i]() }
	}
	for _, step := range []struct {
		what string
		do   func()
		want int
	}{
		{"one polls", enter(Poll), 1},
		{"another polls", enter(Poll), 2},
		{"one sleeps", enter(Event), 4},
		{"the sleeping one ends", end(2), 2},
		{"one polls at first", enter(Adaptive), 4},
		{"it ends", end(3), 2},
		{"a third and more poll", func() {
			for range 4 {
				enter(Poll)()
			}
		}, 4},
		{"they end", func() {
			for i := range 4 {
				leave[4+i]()
			}
		}, 2},
		{"the first ends", end(0), 1},
		{"the last ends", end(1), 4},
		{"one polls again", enter(Poll), 1},
		{"and ends", end(8), 4},
	} {
		step.do()
		if procs != step.want {
			t.Errorf("%s: %d processors, want %d", step.what, procs, step.want)
		}
	}
}
