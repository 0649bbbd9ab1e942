// Package ucma speaks the ABI of /dev/infiniband/rdma_cm, the character device
// through which user space reaches the kernel's RDMA connection manager.
//
// It is thin on purpose: one method of [Channel] for each kernel command, and
// [Channel.GetEvent] to read what the kernel reports. It knows no queue pairs
// and keeps no state about connections; package cm does both.
//
// A [Channel] is what librdmacm calls an event channel: one open file, which
// owns the IDs created on it and delivers their events in order. An ID is a
// number (the kernel's handle). Handles are reused at once after DestroyID, so
// events are best told apart by the 64-bit uid that CreateID and Accept give
// an ID and that its events carry back. Nothing acknowledges events: the
// kernel never waits for that.
//
// All methods are safe for concurrent use. They do not block, except GetEvent
// and those few that the kernel itself makes wait for work in progress on the
// same ID: DestroyID, LeaveMulticast, MigrateID. Errors are of type [*Error]
// and unwrap to the kernel's errno; after Close they match [net.ErrClosed].
//
// The kernel checks on each command that the calling thread still has the
// credentials of the opener. A process that changes its user or group IDs, or
// a child that inherits the file, gets [ErrCredentialsChanged]; drop privileges
// before the program starts.
//
// Facts are from include/uapi/rdma/rdma_user_cm.h and
// drivers/infiniband/core/ucma.c of Linux 5.10 to 7.3; ABI version 4.
package ucma
