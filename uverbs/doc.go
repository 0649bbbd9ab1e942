// Package uverbs is RDMA verbs in Go: it opens a device's character file
// (/dev/infiniband/uverbsN), creates objects on it, posts work and reads
// completions, without cgo and without libibverbs.
//
// # Objects
//
// [Devices] finds devices, [Device.Open] opens one. A [Context] creates
// protection domains ([PD]), completion channels ([CompChannel]) and completion
// queues ([CQ]); a PD registers memory ([MR]), creates queue pairs ([QP]), shared
// receive queues ([SRQ]) and address handles for datagrams ([AH]).
// What a device reads and writes is [Memory], which lies outside the Go heap.
//
// A memory window ([MW]) is a key to part of a region that a queue pair gives and
// takes back. Other memory than the process's own is registered from a DMA buffer
// ([PD.RegDMABuf]) or from the device itself ([DM]). [XRCD], [WQ], [WQTable],
// [Flow], [Counters], [CompCounter] and [DMAHint] are objects of hardware: they
// can be created and destroyed on any device whose kernel driver has them, and
// match errors.ErrUnsupported elsewhere. Processes share a context by descriptor
// ([Context.Export], [ImportContext]).
//
// Each object has one owner, who closes it. An object can be closed only after
// those that need it; otherwise Close returns a *[BusyError] that names them.
// The order is
//
//	Flow, Counters, QP, CompCounter, WQTable, WQ, SRQ, AH, CQ, CompChannel,
//	MW, Buffer, Arena, MR, DM, DMAHint, Memory, PD, XRCD, Context
//
// where only the pairs that depend on each other matter. Close may be called
// more than once and from any goroutine, wakes who waits for the object, and
// returns when the kernel's object is gone. Later use returns an error that
// matches [net.ErrClosed]. When the kernel refuses to destroy an object, Close
// returns why: the object is there, takes no more commands, and keeps those open
// that it needs; Close may be called again, and [Context.Abandon] closes the
// device all the same. Closing objects of a device that was removed succeeds.
//
// # Concurrency
//
// All methods are safe for concurrent use. Posting to one queue and polling
// one CQ is serialised by a lock each. There is one goroutine per context and
// one per completion channel, which read events; none per queue or waiter, and
// none per channel of [Context.CreateBlockingCompChannel], unless a waiter's context
// is of a kind for which package context needs one.
//
// # Waiting
//
// [CQ.Poll] never waits. [CQ.Wait] waits with a context, after polling for as long as
// CQConfig.Spin says. For many CQs on one channel, CQConfig.Notify is called at each
// event. Where a microsecond counts and a thread does not, waiters sleep in the kernel,
// on channels of [Context.CreateBlockingCompChannel].
//
// # Requests
//
// [QP.PostSend] takes requests as structs ([SendWR]), any number at once with one
// doorbell. There is no counterpart of the functions ibv_wr_start to
// ibv_wr_complete, which build a request piece by piece in the ring. They save C
// the walk along a linked list and a switch over opcodes; PostSend has neither,
// and copies nothing twice. A trial for soft-RoCE took 35 to 43 ns for a write of
// one entry, without the checks that PostSend makes in 42 to 50 ns, and the
// doorbell that follows is a system call. It would also hold the queue's lock
// between calls of the program.
//
// # Datagrams
//
// A UD queue pair talks to any number of others. Each send names an [AH], the
// peer's queue pair number and its Q_Key (SendWR); each receive starts with
// [GRHSize] bytes that hold the sender's address ([ParseGRH]), to which
// [PD.CreateAHFromWC] makes the way back. With [QP.AttachMulticast] a queue pair
// receives what is sent to a group.
//
// # Errors
//
// An operation that failed returns an *[Error], through which errors.Is reaches
// the errno. What a kernel or driver does not support matches
// errors.ErrUnsupported, what is asked for with arguments that make no sense
// syscall.EINVAL with the reason, a device without a data path in this module
// [ErrNoProvider], a removed device [ErrDeviceRemoved]. A failed request is a
// completion with a status; [WC.Err] makes it a *[CompletionError].
//
// # Kernel interfaces
//
// The kernel takes commands by ioctl, as methods with attributes, and by
// write(2). A context uses ioctl if the kernel has it; OpenOptions.CallStyle
// forces either. Kernels from 5.10 on are supported. What only methods can do
// (DMA buffers, advice, counters, device memory, hints, sharing) matches
// errors.ErrUnsupported on a context that uses write.
package uverbs
