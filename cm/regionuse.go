package cm

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
)

// A regionUse knows what devices do with a region on behalf of operations.
type regionUse struct {
	posted  atomic.Int32 // parts that the device has, or is about to get
	numLeft atomic.Int32 // of left

	mu   sync.Mutex
	left []part // of operations that nobody waits for any more
}

// A part is a piece of a region that belongs to an operation of a connection.
type part struct {
	Slice
	conn *Conn
	slot *sendSlot
}

// enterRegion counts an operation's part of a region, and refuses what an operation
// whose context ended still uses: the device would send what is written now in the
// place of what was to be sent then.
func (s *sendSlot) enterRegion(c *Conn, sl Slice) error {
	u := &sl.r.use
	u.posted.Add(1) // before the check, as Region.Close looks at both in the other order
	err := sl.check(c)
	if err == nil && u.numLeft.Load() > 0 {
		err = u.overlap(sl)
	}
	if err != nil {
		u.posted.Add(-1)
		return err
	}
	s.mu.Lock()
	s.parts = append(s.parts, part{sl, c, s})
	s.mu.Unlock()
	return nil
}

// leaveRegions ends the use of all regions. The caller holds mu.
func (s *sendSlot) leaveRegions() {
	for _, p := range s.parts {
		u := &p.r.use
		if u.numLeft.Load() > 0 {
			u.forget(p)
		}
		u.posted.Add(-1)
	}
	clear(s.parts)
	s.parts = s.parts[:0]
}

// keepRegions notes the memory of an operation that nobody waits for. The caller
// holds mu.
func (s *sendSlot) keepRegions() {
	for _, p := range s.parts {
		p.r.use.keep(p)
	}
}

func (u *regionUse) keep(p part) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.left = append(u.left, p)
	u.numLeft.Add(1)
}

// forget takes one keep of an equal part back, if there was one.
func (u *regionUse) forget(p part) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range u.left {
		if u.left[i] == p {
			u.left = append(u.left[:i], u.left[i+1:]...)
			u.numLeft.Add(-1)
			return
		}
	}
}

// overlap refuses a slice of which an operation that is under way has a part.
func (u *regionUse) overlap(sl Slice) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.left {
		if sl.off < p.off+p.n && p.off < sl.off+sl.n {
			return fmt.Errorf("bytes %d to %d of the region belong to an operation that is still under way, though its context "+
				"has ended; Conn.Drain waits for it: %w", p.off, p.off+p.n, syscall.EBUSY)
		}
	}
	return nil
}

// check refuses the end of a region of n bytes that the device of a connection in
// use has: the connection would end with it.
func (u *regionUse) check(n int) error {
	posted := int(u.posted.Load())
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, p := range u.left {
		if p.conn.Err() != nil {
			posted-- // nothing is left to harm
		}
	}
	if posted <= 0 {
		return nil
	}
	return fmt.Errorf("region of %d bytes: operations under way have %d parts of it: wait for them, with Conn.Drain for those "+
		"whose context has ended: %w", n, posted, syscall.EBUSY)
}
