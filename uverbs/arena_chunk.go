package uverbs

import "sort"

// chunk is one registered mapping of an arena and the gaps in it. The arena's
// mu guards it.
type chunk struct {
	mem  *Memory
	mr   *MR
	gaps []gap // by offset; no two touch
}

type gap struct{ at, n int }

func newChunk(mem *Memory, mr *MR) *chunk {
	return &chunk{mem: mem, mr: mr, gaps: []gap{{0, mem.Len()}}}
}

func (c *chunk) size() int { return c.mem.Len() }

func (c *chunk) empty() bool { return len(c.gaps) == 1 && c.gaps[0].n == c.mem.Len() }

// lives reports whether the device knows the chunk's memory, as far as this process
// knows: whoever has a buffer can close its region, and a registration may have
// ended when the memory could not be unmapped.
func (c *chunk) lives() bool { return !c.mr.life.isEnding() }

// take cuts n bytes out of the first gap that has them.
func (c *chunk) take(n int) (at int, ok bool) {
	for i := range c.gaps {
		g := &c.gaps[i]
		if g.n < n {
			continue
		}
		at = g.at
		g.at, g.n = g.at+n, g.n-n
		if g.n == 0 {
			c.gaps = append(c.gaps[:i], c.gaps[i+1:]...)
		}
		return at, true
	}
	return 0, false
}

// put makes n bytes a gap again, or part of those beside it.
func (c *chunk) put(at, n int) {
	i := sort.Search(len(c.gaps), func(i int) bool { return c.gaps[i].at > at })
	before := i > 0 && c.gaps[i-1].at+c.gaps[i-1].n == at
	after := i < len(c.gaps) && at+n == c.gaps[i].at
	switch {
	case before && after:
		c.gaps[i-1].n += n + c.gaps[i].n
		c.gaps = append(c.gaps[:i], c.gaps[i+1:]...)
	case before:
		c.gaps[i-1].n += n
	case after:
		c.gaps[i].at, c.gaps[i].n = at, c.gaps[i].n+n
	default:
		c.gaps = append(c.gaps, gap{})
		copy(c.gaps[i+1:], c.gaps[i:])
		c.gaps[i] = gap{at, n}
	}
}

// close ends the registration and unmaps.
func (c *chunk) close() error {
	if err := c.mr.Close(); err != nil {
		return err
	}
	return c.mem.Close()
}
