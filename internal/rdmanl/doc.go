// Package rdmanl speaks the RDMA netlink protocol (AF_NETLINK, NETLINK_RDMA),
// client RDMA_NL_NLDEV: which RDMA devices exist, their ports, character devices
// and resources, and adding or deleting soft devices.
//
// Decoders take whatever bytes arrive, check every length and never panic.
// Attributes this package does not know are skipped.
//
// A request is handled by the kernel inside the sender's sendmsg(2): the call returns
// only when the handler has finished, and no signal or deadline ends it earlier.
// Queries take microseconds. Deleting a device can take for ever on kernels before
// 7.x, so [NewLink] and [DeleteLink] send from a goroutine of their own.
package rdmanl
