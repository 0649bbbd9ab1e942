package cm

import (
	"maps"
	"slices"
	"sync"

	"github.com/purerdma/rdma/uverbs"
)

// A regionSet is the regions of a connection or of a PD, its owner: the device
// has them no longer than the owner lives. They stay mapped until each is
// closed, because the application may be looking at them.
type regionSet struct {
	// use is held for reading while memory of the owner is registered, or
	// touched by this package, and for writing to end that.
	use   sync.RWMutex
	ended error // why nothing is registered any more; nil before the end

	mu   sync.Mutex
	live map[*Region]struct{} // those that the device has
}

// enter admits the caller to the owner's memory until it calls leave. After
// the end it says why not.
func (s *regionSet) enter() (leave func(), err error) {
	s.use.RLock()
	if s.ended != nil {
		s.use.RUnlock()
		return nil, s.ended
	}
	return s.use.RUnlock, nil
}

// alloc makes a region.
func (s *regionSet) alloc(pd *uverbs.PD, n int, access Access) (*Region, error) {
	leave, err := s.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	mem, err := uverbs.NewMemory(n)
	if err != nil {
		return nil, err
	}
	reg, err := register(pd, mem, 0, n, access)
	if err != nil {
		_ = mem.Close()
		return nil, err
	}
	r := &Region{owner: s, mem: mem, reg: reg, access: access}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live == nil {
		s.live = make(map[*Region]struct{})
	}
	s.live[r] = struct{}{}
	return r, nil
}

// deregister takes all regions from the device, for the reason why. It goes on
// after an error, and returns the first one.
func (s *regionSet) deregister(why error) error {
	s.use.Lock()
	if s.ended == nil {
		s.ended = why
	}
	s.use.Unlock()
	var first error
	for _, r := range s.list() {
		if err := r.reg.end(); err == nil {
			s.leave(r)
		} else if first == nil {
			first = err
		}
	}
	return first
}

func (s *regionSet) list() []*Region {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.live))
}

// leave notes that r outlives its owner.
func (s *regionSet) leave(r *Region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.live[r]; !ok {
		return // closed meanwhile
	}
	delete(s.live, r)
	r.left = true
	usage.left.Add(int64(r.mem.Len()))
}

// forget is for a region that is closed and that the device does not have.
func (s *regionSet) forget(r *Region) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.live, r)
	if r.left {
		r.left = false
		usage.left.Add(-int64(r.mem.Len()))
	}
}
