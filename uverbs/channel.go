package uverbs

import (
	"fmt"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/offheap"
)

// A CompChannel delivers the events of completion queues: one descriptor for as
// many queues as wanted. One goroutine reads it; or, if the channel was made by
// [Context.CreateBlockingCompChannel], who waits does. All methods are safe for
// concurrent use.
type CompChannel struct {
	life life
	c    *Context
	fd   int // the kernel's number of file, for CQ_CREATE
	file *devfile.File
	desc *abi.IBUverbsCompEventDesc // who reads the channel reads into it

	lead *lead         // nil if a goroutine reads
	done chan struct{} // closed when no more events come

	mu  sync.Mutex
	err error // why no more come
}

// CreateCompChannel creates a completion channel (CREATE_COMP_CHANNEL). The
// error is an *[Error].
func (c *Context) CreateCompChannel() (*CompChannel, error) {
	ch, err := c.newCompChannel(nil)
	if err == nil {
		go ch.run()
	}
	return ch, err
}

func (c *Context) newCompChannel(l *lead) (*CompChannel, error) {
	ch := &CompChannel{c: c, lead: l, desc: new(abi.IBUverbsCompEventDesc), done: make(chan struct{})}
	if err := ch.life.begin(c.dev.Name, "new completion channel", &c.life); err != nil {
		return nil, err
	}
	if err := ch.create(); err != nil {
		ch.life.unregister()
		return nil, err
	}
	ch.life.settle(c.dev.Name, fmt.Sprintf("completion channel %d", ch.fd))
	return ch, nil
}

func (ch *CompChannel) create() error {
	w, err := newWrite(&cmdCreateCompChannel, nil, 0)
	if err != nil {
		return ch.c.fail(cmdCreateCompChannel.name, "", err)
	}
	defer w.release()
	if err := ch.c.write(w, ""); err != nil {
		return err
	}
	ch.fd = int(int32(respOf[abi.IBUverbsCreateCompChannelResp](w).FD))
	name := ch.c.file.Path() + " (completion channel)"
	if ch.lead != nil {
		ch.file, err = ch.lead.adopt(ch.c.file, ch.fd, name)
	} else {
		ch.file, err = ch.c.file.Adopt(ch.fd, name)
	}
	if err != nil {
		return ch.c.fail(cmdCreateCompChannel.name, "", err)
	}
	return nil
}

// run reads events and passes each to its queue. An event of a queue that was
// closed meanwhile finds none and is dropped.
func (ch *CompChannel) run() {
	ch.ended(readEvents(ch.file, offheap.BytesOf(ch.desc), func() {
		if cq := ch.queue(); cq != nil {
			cq.event()
		}
	}))
}

// queue returns the queue of the event that was read last.
func (ch *CompChannel) queue() *CQ { return ch.c.registry.cq(ch.desc.CQHandle) }

// ended records why no more events come, once. The kernel ends the stream with EIO
// when it takes the device away.
func (ch *CompChannel) ended(err error) {
	defer close(ch.done)
	if isGone(err) {
		ch.c.markGone()
	}
	ch.mu.Lock()
	ch.err = err
	ch.mu.Unlock()
}

func (ch *CompChannel) failure() error {
	ch.mu.Lock()
	defer ch.mu.Unlock()
	return ch.c.fail("wait", ch.life.name, ch.err)
}

// Context returns the context the channel belongs to.
func (ch *CompChannel) Context() *Context { return ch.c }

// String returns "completion channel " and a number.
func (ch *CompChannel) String() string { return ch.life.name }

// Close closes the channel. While completion queues use it, it returns a
// *[BusyError] that names them. It may be called more than once and from any
// goroutine other than one that runs a CQConfig.Notify function.
func (ch *CompChannel) Close() error {
	return ch.life.close(nil, func() error {
		err := ch.file.Close()
		if ch.lead == nil {
			<-ch.done
		} else {
			ch.c.leads.drop(ch.lead)
			<-ch.lead.turn // for good: nobody leads any more
			ch.lead.ignore()
		}
		return err
	})
}
