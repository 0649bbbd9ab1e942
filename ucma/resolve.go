package ucma

import "github.com/purerdma/rdma/abi"

// ResolveAddr finds route, neighbour, source address, device and port towards
// dst (RESOLVE_ADDR; kernel 3.11). An idle ID is bound to src on the way, or
// to the wildcard if src is zero; a bound ID ignores src. The answer is the
// event ADDR_RESOLVED or ADDR_ERROR; an unroutable address fails at once with
// ENETUNREACH. timeoutMs bounds the neighbour lookup in milliseconds; 0 gives
// up at once.
func (c *Channel) ResolveAddr(id uint32, src, dst Sockaddr, timeoutMs uint32) error {
	return portError(src, run(c, abi.RDMA_USER_CM_CMD_RESOLVE_ADDR, id, func(q *abi.RDMAUCMResolveAddr) {
		q.ID, q.TimeoutMs = id, timeoutMs
		src.store(&q.SrcSize, &q.SrcAddr)
		dst.store(&q.DstSize, &q.DstAddr)
	}))
}

// ResolveIP is ResolveAddr through the older command RESOLVE_IP, which takes
// IP addresses only.
func (c *Channel) ResolveIP(id uint32, src, dst Sockaddr, timeoutMs uint32) error {
	src6, err := src.legacy()
	if err != nil {
		return fail(abi.RDMA_USER_CM_CMD_RESOLVE_IP, id, err)
	}
	dst6, err := dst.legacy()
	if err != nil {
		return fail(abi.RDMA_USER_CM_CMD_RESOLVE_IP, id, err)
	}
	return portError(src, run(c, abi.RDMA_USER_CM_CMD_RESOLVE_IP, id, func(q *abi.RDMAUCMResolveIP) {
		q.ID, q.TimeoutMs, q.SrcAddr, q.DstAddr = id, timeoutMs, src6, dst6
	}))
}

// ResolveRoute finds the path record towards the resolved address
// (RESOLVE_ROUTE). The answer is the event ROUTE_RESOLVED or ROUTE_ERROR.
// timeoutMs must not be 0 (EINVAL).
func (c *Channel) ResolveRoute(id, timeoutMs uint32) error {
	return run(c, abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE, id, func(q *abi.RDMAUCMResolveRoute) {
		q.ID, q.TimeoutMs = id, timeoutMs
	})
}

// ResolveIBService looks up a service record in the subnet administrator
// (RESOLVE_IB_SERVICE; kernel 6.18, EINVAL before; InfiniBand only). The
// answer is the event ADDRINFO_RESOLVED or ADDRINFO_ERROR.
func (c *Channel) ResolveIBService(id uint32, service abi.RDMAUCMIBService) error {
	return run(c, abi.RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE, id, func(q *abi.RDMAUCMResolveIBService) {
		q.ID, q.Ibs = id, service
	})
}
