// Package fakecm is a connection manager for tests: it stands behind the seam
// of package devfile where /dev/infiniband/rdma_cm would be, and behaves as
// drivers/infiniband/core/ucma.c and cma.c do towards user space.
//
// IDs on all files of one [Kernel] share a fabric: a connect finds the
// listener, the handshake and the goodbyes travel between both ends. Handles
// are the smallest free numbers, 0 included, and are reused at once. Events of
// a request that nobody accepted yet are dropped. Destroying an ID does to the
// peer what the real one does.
//
// Tests look at each call through [Kernel.Before], where they make it fail or
// act at that moment, add events with [Kernel.Inject], and count what is left
// with [Kernel.Left].
package fakecm
