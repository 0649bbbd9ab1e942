package uverbs

import (
	"bytes"
	"path"
	"strconv"
	"strings"
	"sync"
)

// Before Linux 7.3, soft-RoCE does not say on the device's own files that it is
// being removed: ib_uverbs_remove_one takes the device node away and then waits
// until the last descriptor is closed. But it tells the world, in a uevent. So
// one netlink socket in the process, open while contexts are, listens for them.
// A network namespace that an unprivileged user made gets none.

// removalWatch marks contexts whose device is being taken away.
type removalWatch struct {
	mu       sync.Mutex
	contexts map[*Context]uint64 // with the number of the last event before its opening
	listener *ueventListener     // nil without contexts, or where there are no events
}

var removals removalWatch

// add watches a context until drop. after is what lastUEvent returned before
// the device was opened.
func (w *removalWatch) add(c *Context, after uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.contexts == nil {
		w.contexts = make(map[*Context]uint64)
	}
	w.contexts[c] = after
	if w.listener == nil {
		// Without it contexts learn of removals as their driver tells them.
		w.listener, _ = listenUEvents(w.event, w.missed)
	}
}

// drop ends add, and the listening with the last context.
func (w *removalWatch) drop(c *Context) {
	w.mu.Lock()
	delete(w.contexts, c)
	var last *ueventListener
	if len(w.contexts) == 0 {
		last, w.listener = w.listener, nil
	}
	w.mu.Unlock()
	if last != nil {
		last.close() // waits for its goroutine, which takes mu
	}
}

// event looks at one event.
func (w *removalWatch) event(b []byte) {
	name, number, ok := removedNode(b)
	if !ok {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for c, after := range w.contexts {
		// Names are used again: an older event is about an older device.
		if c.dev.CharDev.Name == name && number > after {
			c.markGone()
		}
	}
}

// missed looks for devices that went while events were lost.
func (w *removalWatch) missed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for c := range w.contexts {
		if !verbsNodeExists(c.dev.CharDev.Name) {
			c.markGone()
		}
	}
}

// removedNode returns the name of the verbs device that an event says is
// removed, and the event's number. An event is lines that end with NUL, the
// first a summary, the others KEY=VALUE (kobject_uevent_env).
func removedNode(b []byte) (name string, number uint64, ok bool) {
	var action, subsystem string
	for _, line := range bytes.Split(b, []byte{0}) {
		key, value, _ := strings.Cut(string(line), "=")
		switch key {
		case "ACTION":
			action = value
		case "SUBSYSTEM":
			subsystem = value
		case "DEVPATH":
			name = path.Base(value)
		case "SEQNUM":
			number, _ = strconv.ParseUint(value, 10, 64)
		}
	}
	return name, number, action == "remove" && subsystem == "infiniband_verbs"
}
