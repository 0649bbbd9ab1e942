package uverbs

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// life is the part of an object's life that all objects have: who needs it,
// whether it may be used, and the one destruction.
//
// Lock order: closing, then use, then mu. No lock of one object is held while
// taking one of another, except mu of a parent.
type life struct {
	name    string // of the object, for messages
	device  string // its device's name, for messages; empty for memory
	closed  error  // what later use returns
	parents []*life

	// use is held for reading during each kernel command on the object, so
	// that the destroy command, which the kernel refuses with EBUSY beside
	// any other, has the object for itself.
	use sync.RWMutex

	// done is closed when Close begins, to wake waiters.
	done chan struct{}

	closing   sync.Mutex  // held by the one Close that is at work
	destroyed atomic.Bool // set under closing

	mu     sync.Mutex
	ending bool             // no new children, no new use
	users  map[*life]string // children by object, with their names
	later  func()           // runs when an object that was ended early has no users left
}

// begin registers the object with its parents, before the kernel creates it,
// so that none of them can be closed meanwhile. The object's name may change
// until settle.
func (l *life) begin(device, name string, parents ...*life) error {
	l.name, l.device = name, device
	l.closed = closedError(device, name)
	l.done = make(chan struct{})
	for i, p := range parents {
		if err := p.addUser(l, name); err != nil {
			for _, q := range parents[:i] {
				q.removeUser(l)
			}
			return err
		}
	}
	l.parents = parents
	return nil
}

// settle gives the object its final name.
func (l *life) settle(device, name string) {
	l.name = name
	l.closed = closedError(device, name)
	for _, p := range l.parents {
		p.mu.Lock()
		p.users[l] = name
		p.mu.Unlock()
	}
}

// unregister takes begin back: the object could not be created, or is no more.
func (l *life) unregister() {
	for _, p := range l.parents {
		p.removeUser(l)
	}
}

// enterAlone starts a command that changes the object itself, and so runs beside
// no other; leaveAlone ends it.
func (l *life) enterAlone() error {
	l.use.Lock()
	if l.isEnding() {
		l.use.Unlock()
		return l.closed
	}
	return nil
}

func (l *life) leaveAlone() { l.use.Unlock() }

// move makes other objects the parents. change is the command that does so in
// the kernel; when it fails the old ones remain. The object is entered alone.
func (l *life) move(parents []*life, change func() error) error {
	for i, p := range parents {
		if slices.Contains(l.parents, p) {
			continue
		}
		if err := p.addUser(l, l.name); err != nil {
			l.dropFrom(parents[:i], l.parents)
			return err
		}
	}
	if err := change(); err != nil {
		l.dropFrom(parents, l.parents)
		return err
	}
	l.dropFrom(l.parents, parents)
	l.parents = parents
	return nil
}

// dropFrom ends the object's use of those parents that are not to be kept.
func (l *life) dropFrom(parents, kept []*life) {
	for _, p := range parents {
		if !slices.Contains(kept, p) {
			p.removeUser(l)
		}
	}
}

func (l *life) addUser(u *life, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ending {
		return l.closed
	}
	if l.users == nil {
		l.users = make(map[*life]string)
	}
	l.users[u] = name
	return nil
}

func (l *life) removeUser(u *life) {
	l.mu.Lock()
	delete(l.users, u)
	later := l.takeLater()
	l.mu.Unlock()
	if later != nil {
		later()
	}
}

// takeLater returns what is left to do once nobody uses the object, and only once.
// The caller holds mu.
func (l *life) takeLater() func() {
	if len(l.users) > 0 {
		return nil
	}
	later := l.later
	l.later = nil
	return later
}

// enter starts a kernel command on the object; leave ends it.
func (l *life) enter() error {
	l.use.RLock()
	if l.isEnding() {
		l.use.RUnlock()
		return l.closed
	}
	return nil
}

func (l *life) leave() { l.use.RUnlock() }

func (l *life) isEnding() bool { return isClosed(l.done) }

// close ends the object's life: once, by destroy, which has the object for
// itself. A second call waits for the first and returns nil. When destroy
// fails the object stays registered, takes no more commands, and close may be
// called again. release frees what belonged to an object that is gone, while its
// parents still wait for it: it may use what is theirs. Either may be nil.
func (l *life) close(destroy, release func() error) error {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.destroyed.Load() {
		return nil
	}
	if err := l.end(); err != nil {
		return err
	}
	l.use.Lock()
	defer l.use.Unlock()
	if destroy != nil {
		if err := destroy(); err != nil {
			return err
		}
	}
	l.destroyed.Store(true)
	defer l.unregister()
	if release == nil {
		return nil
	}
	return release()
}

// endEarly ends the object's life although others may need it: they are left
// without. later frees what they still have of it when the last of them is gone.
func (l *life) endEarly(release func() error, later func()) error {
	l.closing.Lock()
	defer l.closing.Unlock()
	if l.destroyed.Load() {
		return nil
	}
	l.mu.Lock()
	l.bar()
	l.mu.Unlock()
	l.use.Lock()
	defer l.use.Unlock()
	l.destroyed.Store(true)
	err := release()
	l.mu.Lock()
	l.later = later
	now := l.takeLater()
	l.mu.Unlock()
	if now != nil {
		now()
	}
	return err
}

// bar admits no new use and wakes waiters. The caller holds mu.
func (l *life) bar() {
	if !l.ending {
		l.ending = true
		close(l.done)
	}
}

// end refuses when the object has users, else bars new use and wakes waiters.
func (l *life) end() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.users) > 0 {
		return &BusyError{Device: l.device, Object: l.name, Users: slices.Sorted(maps.Values(l.users))}
	}
	l.bar()
	return nil
}
