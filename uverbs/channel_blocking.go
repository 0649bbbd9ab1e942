package uverbs

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/internal/timeslice"
)

// CreateBlockingCompChannel is CreateCompChannel for short waits (CREATE_COMP_CHANNEL,
// and an eventfd beside it). Nothing reads the channel but who waits: of the
// goroutines in [CQ.Wait] for its queues, one sleeps in the kernel, on its thread, as
// a C program does in ibv_get_cq_event, and takes the events for all. So a
// completion wakes one thread, which goes on at once. On an ordinary channel it
// wakes a thread of the runtime's poller, which runs the reader, which wakes the
// waiter, on another thread maybe.
//
// The price is a second descriptor, a thread for each channel that is waited for, and
// one of the runtime's processors until the runtime takes it back, after 20
// microseconds to 10 milliseconds if there is other work: a channel for few, quick
// exchanges, and not for thousands of idle connections. CQConfig.Notify needs a reader
// and is refused.
//
// A wait that sleeps tells its context whom to wake, which allocates, and takes that
// back. From the second in a row with one context on, the channel keeps that until a
// wait with another, or Close, and waits allocate nothing. The error is an *[Error].
func (c *Context) CreateBlockingCompChannel() (*CompChannel, error) {
	l := newLead()
	ch, err := c.newCompChannel(l)
	if err == nil {
		c.leads.add(l)
	}
	return ch, err
}

// A lead is the right to read a channel, which one waiter has at a time.
type lead struct {
	turn  chan struct{} // holds a token while nobody leads
	taken atomic.Bool
	file  *devfile.SleepFile

	// The leader's, or who closes the channel's.
	slice timeslice.Slice
	done  <-chan struct{} // of the last wait's context
	stop  func() bool     // takes back that it wakes the leader, unless nil
}

func newLead() *lead {
	l := &lead{turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

func (l *lead) adopt(f *devfile.File, fd int, name string) (*devfile.File, error) {
	var err error
	if l.file, err = f.AdoptSleeper(fd, name); err != nil {
		return nil, err
	}
	return l.file.File, nil
}

// interrupt has the leader look again at whatever may end its wait, which the caller
// has changed. Who begins to lead after that sees it without.
func (l *lead) interrupt() {
	if l.taken.Load() {
		l.file.Wake()
	}
}

// interrupt is for what ends a wait on the queue.
func (cq *CQ) interrupt() {
	if cq.channel != nil && cq.channel.lead != nil {
		cq.channel.lead.interrupt()
	}
}

// turn is ready when nobody reads a channel that waiters read.
func (ch *CompChannel) turn() <-chan struct{} {
	if ch.lead == nil {
		return nil
	}
	return ch.lead.turn
}

// heed has ctx wake the leader when it ends, until ignore, and reports whether the last
// wait had it too.
//
// A sleep with a limit, after which it looked at ctx, would do without. But the kernel
// would set a timer for each and take it back, and an emulated processor takes longer
// for that than for all that Go does for a message.
func (l *lead) heed(ctx context.Context) (again bool) {
	done := ctx.Done()
	again = done == l.done
	if !again {
		l.ignore()
		l.done = done
	}
	if l.stop == nil && done != nil {
		l.stop = context.AfterFunc(ctx, l.interrupt)
	}
	return again
}

func (l *lead) ignore() {
	if l.stop != nil {
		l.stop()
		l.stop = nil
	}
}

// leadFor reads the channel until an event of cq comes, or ctx or something else
// ends the wait. The caller has taken the turn.
func (ch *CompChannel) leadFor(ctx context.Context, cq *CQ) error {
	l := ch.lead
	l.taken.Store(true)
	defer func() {
		l.taken.Store(false)
		l.turn <- struct{}{}
	}()
	l.slice.Breathe()
	if cq.woken() {
		return nil
	}
	// A loop has one context for all its waits. One that is made for a wait, and ended
	// after it, is to wake nobody then.
	if again := l.heed(ctx); !again {
		defer l.ignore()
	}
	for {
		// After taken and heed: what ends from here on wakes the sleep.
		if err := cq.ended(ctx); err != nil {
			return err
		}
		if cq.woken() || ch.read(cq) {
			return nil
		}
	}
}

// read sleeps until there is an event or [lead.interrupt], passes the event to its
// queue and reports whether that is cq.
func (ch *CompChannel) read(cq *CQ) bool {
	if ch.isDone() || !ch.lead.file.Sleep() {
		return false
	}
	switch err := readEvent(ch.file, offheap.BytesOf(ch.desc)); err {
	case nil:
	case syscall.EAGAIN:
		return false
	default:
		ch.ended(err)
		return false
	}
	to := ch.queue()
	if to != nil && to != cq {
		to.event()
	}
	return to == cq
}

// drain takes the events that nobody sleeps for, from a channel that waiters read. An
// event that a wait armed and did not need would stay in the kernel, which sets no
// limit to them (ib_uverbs_comp_handler), and end a later sleep for nothing.
func (ch *CompChannel) drain() {
	select {
	case <-ch.turn(): // never, if a goroutine reads
	default:
		return
	}
	for !ch.isDone() && readEvent(ch.file, offheap.BytesOf(ch.desc)) == nil { // its failure comes again
		if to := ch.queue(); to != nil {
			to.event()
		}
	}
	ch.lead.turn <- struct{}{}
}

func (ch *CompChannel) isDone() bool { return isClosed(ch.done) }

// leads are the channels of a context that waiters read.
type leads struct {
	mu  sync.Mutex
	set map[*lead]struct{}
}

func (s *leads) add(l *lead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.set == nil {
		s.set = make(map[*lead]struct{})
	}
	s.set[l] = struct{}{}
}

func (s *leads) drop(l *lead) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.set, l)
}

// interrupt is for what ends all waits of a context.
func (s *leads) interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for l := range s.set {
		l.interrupt()
	}
}
