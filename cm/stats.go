package cm

// ChannelStats are counters of an event channel since it was opened.
type ChannelStats struct {
	// Dropped is how many events arrived for IDs that were destroyed meanwhile.
	Dropped uint64

	// Orphans is how many of these were connection requests; their peers were
	// rejected.
	Orphans uint64

	// Destroying is how many IDs are being destroyed at this moment, or wait for
	// it: the process runs 64 of the kernel's DESTROY_ID commands at a time.
	Destroying int

	// HeldUp is how many Close calls returned after two seconds although the kernel
	// had not destroyed the ID; it goes on in the background.
	HeldUp uint64

	// Failed is how many IDs the kernel refused to destroy. They end with the
	// channel.
	Failed uint64
}

// Stats returns the channel's counters.
func (c *EventChannel) Stats() ChannelStats {
	return ChannelStats{
		Dropped: c.dropped.Load(), Orphans: c.orphans.Load(),
		Destroying: c.destroying.count(), HeldUp: c.heldUp.Load(), Failed: c.failed.Load(),
	}
}

// ListenerStats are counters of a listener since its start.
type ListenerStats struct {
	// Waiting is how many requests wait for Accept, of Backlog at most.
	Waiting, Backlog int

	// KernelBacklog is how many requests the kernel keeps until this package has
	// fetched them, which it does at once: the sysctl net.rdma_ucm.max_backlog when
	// the listener began, usually 1024. When more peers connect at the same moment
	// the kernel drops their requests without notice and uncounted; they come again
	// after four seconds. 0 means that it is not known, as in network namespaces
	// other than the initial one.
	KernelBacklog int

	// Busy is how many requests were rejected because the backlog was full.
	Busy uint64

	// Unexplained is how many of these were so many at a time that they got no text
	// ("busy"): the peer sees a rejection without data.
	Unexplained uint64
}

// Stats returns the listener's counters.
func (l *Listener) Stats() ListenerStats {
	return ListenerStats{
		Waiting: len(l.queue), Backlog: cap(l.queue), KernelBacklog: l.kernelBacklog,
		Busy: l.busy.Load(), Unexplained: l.silenced.Load(),
	}
}
