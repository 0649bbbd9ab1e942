package uverbs

import (
	"fmt"
	"sync"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/offheap"
)

// A CompChannel delivers the events of completion queues: one descriptor and
// one goroutine for as many queues as wanted. All methods are safe for
// concurrent use.
type CompChannel struct {
	life life
	c    *Context
	fd   int // the kernel's number of file, for CQ_CREATE
	file *devfile.File
	done chan struct{} // closed when the goroutine has ended

	mu  sync.Mutex
	err error // why the goroutine ended
}

// CreateCompChannel creates a completion channel (CREATE_COMP_CHANNEL). The
// error is an *[Error].
func (c *Context) CreateCompChannel() (*CompChannel, error) {
	ch := &CompChannel{c: c, done: make(chan struct{})}
	if err := ch.life.begin(c.dev.Name, "new completion channel", &c.life); err != nil {
		return nil, err
	}
	if err := ch.create(); err != nil {
		ch.life.unregister()
		return nil, err
	}
	ch.life.settle(c.dev.Name, fmt.Sprintf("completion channel %d", ch.fd))
	go ch.run()
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
	ch.file, err = ch.c.file.Adopt(ch.fd, ch.c.file.Path()+" (completion channel)")
	if err != nil {
		return ch.c.fail(cmdCreateCompChannel.name, "", err)
	}
	return nil
}

// run reads events and passes each to its queue. An event of a queue that was
// closed meanwhile finds none and is dropped.
func (ch *CompChannel) run() {
	defer close(ch.done)
	desc := new(abi.IBUverbsCompEventDesc)
	ch.ended(readEvents(ch.file, offheap.BytesOf(desc), func() {
		if cq := ch.c.registry.cq(desc.CQHandle); cq != nil {
			cq.event()
		}
	}))
}

// ended records why no more events come. The kernel ends the stream with EIO
// when it takes the device away.
func (ch *CompChannel) ended(err error) {
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
		<-ch.done
		return err
	})
}
