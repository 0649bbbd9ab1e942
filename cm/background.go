package cm

import (
	"sync"
	"time"
)

// A pool runs jobs that block in system calls, a few at a time and in the order in
// which they came. Each such call costs a thread while it lasts, and Go ends a
// program that needs more than 10,000 threads. The workers start when there is work
// and end when there is none, so that an idle process has no goroutine.
type pool struct {
	workers int // at a time

	mu      sync.Mutex
	waiting []func() // no more than there are IDs and connections
	running int      // workers
}

// background is the work that nobody waits for, or not without a limit. A job may
// wait for one of a later pool in this list, not of its own or an earlier one.
var background = struct {
	teardowns *pool // of connections whose device is removed, or that nobody has any more
	connects  *pool // connect commands that may open a TCP connection
	answers   *pool // disconnects that answer a peer's, refusals with a text
	destroys  *pool // DESTROY_ID, and the end of event channels
	verdicts  *pool // questions to device and port about a connection that has failed
}{
	teardowns: &pool{workers: 16},
	connects:  &pool{workers: 256}, // TCP may take minutes
	answers:   &pool{workers: 16},
	destroys:  &pool{workers: 64}, // the kernel may hold them up: see destroy.go
	verdicts:  &pool{workers: 4},
}

// run hands over a job. It does not block.
func (p *pool) run(job func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = append(p.waiting, job)
	if p.running < p.workers {
		p.running++
		go p.work()
	}
}

// work is a worker.
func (p *pool) work() {
	for job := p.next(); job != nil; job = p.next() {
		job()
	}
}

// next takes a job, or ends the worker.
func (p *pool) next() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.waiting) == 0 {
		p.waiting = nil
		p.running--
		return nil
	}
	job := p.waiting[0]
	p.waiting[0] = nil // for the garbage collector
	p.waiting = p.waiting[1:]
	return job
}

// A call is one that somebody else makes, because the kernel may hold on to it.
type call struct {
	done chan struct{} // closed when the kernel has returned; err is set then
	err  error

	mu    sync.Mutex
	after func() // see then
}

func newCall() *call { return &call{done: make(chan struct{})} }

// finish says that the kernel has returned.
func (c *call) finish(err error) {
	c.mu.Lock()
	c.err = err
	close(c.done)
	after := c.after
	c.mu.Unlock()
	if after != nil {
		background.answers.run(after)
	}
}

// then has f called in the background when the kernel has returned. There is one f for
// a call.
func (c *call) then(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isDone() {
		background.answers.run(f)
		return
	}
	c.after = f
}

func (c *call) isDone() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// within reports whether the kernel has returned by a deadline.
func (c *call) within(deadline time.Time) bool { return within(c.done, deadline) }

// within waits for a channel to be closed, until a deadline.
func within(done <-chan struct{}, deadline time.Time) bool {
	select {
	case <-done:
		return true
	default:
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// A tally counts what its owner waits for and is not done: jobs in the background,
// operations that nobody else waits for.
type tally struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n is 0; nil while nobody waits
}

func (t *tally) add(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.n += n
	if t.n == 0 && t.idle != nil {
		close(t.idle)
		t.idle = nil
	}
}

func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.n
}

// wait returns a channel that is closed when everything is done, nil if it is.
func (t *tally) wait() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.n > 0 && t.idle == nil {
		t.idle = make(chan struct{})
	}
	return t.idle
}

// within reports whether everything is done by a deadline.
func (t *tally) within(deadline time.Time) bool {
	idle := t.wait()
	return idle == nil || within(idle, deadline)
}
