// Package cm makes RDMA connections through the Linux kernel's connection
// manager, without cgo and without any C library.
//
// It has two levels.
//
// The connection level is for applications and feels like package net:
// [Listen] and [Listener.Accept], [Request.Accept] and [Request.Reject],
// [Dial] and [Dialer], and a [Conn] that sends and receives messages and
// reads and writes the peer's memory. Memory that a device may reach comes
// from [Conn.Alloc], never from the Go heap.
//
// The ID level, [ID], is librdmacm's rdma_cm_id: bind, resolve, connect,
// accept and so on, one method a step, each returning when its event has
// arrived. The connection level issues its commands through exported methods
// of the ID level and of package uverbs alone, so programs can build their own.
// It takes events in the channel's goroutine; others use [ID.NextEvent], or
// [NewRawEventChannel] for many IDs in one goroutine.
//
// # Lifetime
//
// Everything that may block takes a context, and ending the context ends the
// wait in every state. Close on any type may be called more than once and from
// any goroutine; it wakes all waiters, is bounded in time, and afterwards the
// kernel holds nothing of the object. Use after Close gives an error that
// matches [net.ErrClosed].
//
// Events are never acknowledged by the caller: one goroutine per event channel
// fetches them as soon as they arrive and hands them on by a number that is
// never used twice. The process-wide channel is opened with the first ID and
// closed with the last.
//
// The kernel refuses the connection manager to a process that has changed its
// user or group (errors match [ucma.ErrCredentialsChanged]): drop privileges
// before the program starts, or execute it anew afterwards.
//
// # Memory
//
// [Conn.Alloc] returns a [Region], memory that the device may use. Each connection
// has a protection domain of its own: its peer reaches its regions, and no other
// peer does, whatever key it has. [OpenPD], [PD.Alloc] and Config.PD share regions
// among connections of a device on purpose.
//
// What the program has stays: a region is mapped until its own Close, and the bytes
// of a [Message] until its Release, also when the connection is closed before. The
// device has none of it any more then, and it is locked in RAM no longer; but a
// program that never gives back leaks ([ReadMemoryUse]). A slice from [Region.Bytes]
// or Message.Data must not be touched after that.
//
// # iWARP
//
// On an iWARP device, such as soft-iWARP (siw), connections run over TCP. What is
// different there:
//
//   - Send and Write return when the transport has taken the data, not when the
//     peer's device has placed it. A peer that refuses it ends the connection.
//   - A message for which the peer has no receive buffer ends the connection too;
//     nothing is sent again. Programs agree on how many messages may be under way.
//   - The side that dials speaks first. The first operation of the side that has
//     accepted waits for a message of the peer, but not longer than 200 ms.
//   - There is no immediate data and there are no atomic operations: SendImm,
//     WriteImm, FetchAdd, CompareSwap and memory with RemoteAtomic fail with
//     errors.ErrUnsupported, as datagram services do. Read fills several slices one
//     after the other.
//   - Refusals are errnos ([RejectError]). Private data arrives in its own length,
//     and up to 251 bytes of it fit ([MaxIWARPData]).
//   - A dial whose context ends returns at once, but the kernel keeps what it made
//     until the peer has answered: with siw ten seconds, after which it also gives
//     up a request that nobody has accepted. Where nothing answers at all, TCP goes
//     on trying before that (sysctl net.ipv4.tcp_syn_retries, two minutes), and so
//     long the kernel keeps the ID of an [ID.Connect] too: Close of a queue pair
//     that it connects waits, and so does Close of an [EventChannel] of one's own.
//   - Where siw has accepted and no message has arrived half a second later, this side
//     reads nothing from the peer: siw may have overlooked the first message, and
//     looks again when something else arrives. A peer that serves no reads is
//     spared, and may wait until it sends again.
//   - A listener on the IPv6 wildcard takes IPv4 connections too only if an iWARP
//     device is there when it starts; an ID on it takes none.
//
// # Errors
//
// Errors of the connection level are of type [*OpError] and say operation, step,
// addresses, device, cause and, where one is known, the remedy. [errors.Is] finds
// the sentinels of this package ([ErrNoListener], [ErrRejected], [ErrPeerClosed],
// [ErrConnLost], [ErrPeerDead], [ErrDeviceRemoved], [ErrAddrInUse], [ErrNoPorts], [ErrBusy], [ErrNoDevice]), the kernel's errno and a
// context's error; [errors.As] finds [*RejectError] with the peer's reason and
// private data, [*PortError], and [*uverbs.CompletionError] with the completion's
// status. A connection ends with one cause, which all of its operations return.
// OpError.Timeout is true for time-outs. At the ID level the same sentinels
// and types are in the chain.
package cm
