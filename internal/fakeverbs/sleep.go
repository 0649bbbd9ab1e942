package fakeverbs

import "github.com/purerdma/rdma/internal/devfile"

// sleeper is a file whose reader sleeps in the kernel.
type sleeper struct {
	*file
	bell bool // guarded by the kernel's lock
}

// AdoptSleeper takes over a descriptor that a command returned.
func (k *Kernel) AdoptSleeper(fd int, name string) (devfile.Sleeper, error) {
	h, err := k.Adopt(fd, name)
	if err != nil {
		return nil, err
	}
	return &sleeper{file: h.(*file)}, nil
}

// Sleeping is how many calls of Sleep wait.
func (k *Kernel) Sleeping() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.sleeping
}

// Sleep is that of devfile.Sleeper.
func (s *sleeper) Sleep() bool {
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	for s.n == 0 && !s.ended && !s.closed && !s.bell {
		s.k.sleeping++
		s.ready.Wait()
		s.k.sleeping--
	}
	s.bell = false
	return s.n > 0 || s.ended
}

// Wake is that of devfile.Sleeper.
func (s *sleeper) Wake() {
	s.k.mu.Lock()
	defer s.k.mu.Unlock()
	s.bell = true
	s.file.wake()
}

// WaitRead does not wait.
func (s *sleeper) WaitRead(try func() error) error { return try() }
