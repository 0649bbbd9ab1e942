package ucma

import "github.com/purerdma/rdma/abi"

// JoinMulticast joins the group addr with a datagram ID that is bound to a
// device (JOIN_MCAST; kernel 3.11). flags is RDMA_MC_JOIN_FLAG_…. It returns
// the handle for LeaveMulticast. The answer is the event MULTICAST_JOIN or
// MULTICAST_ERROR, which carries this uid and handle, not the ID's.
func (c *Channel) JoinMulticast(id uint32, uid uint64, addr Sockaddr, flags uint16) (mc uint32, err error) {
	resp, err := ask[abi.RDMAUCMJoinMcast, abi.RDMAUCMCreateIDResp](c, abi.RDMA_USER_CM_CMD_JOIN_MCAST, id,
		func(q *abi.RDMAUCMJoinMcast, answer uint64) {
			q.Response, q.UID, q.ID, q.JoinFlags = answer, uid, id, flags
			addr.store(&q.AddrSize, &q.Addr)
		})
	return resp.ID, err
}

// JoinIPMulticast is JoinMulticast through the older command JOIN_IP_MCAST,
// which takes IP addresses only and no flags.
func (c *Channel) JoinIPMulticast(id uint32, uid uint64, addr Sockaddr) (mc uint32, err error) {
	in6, err := addr.legacy()
	if err != nil {
		return 0, fail(abi.RDMA_USER_CM_CMD_JOIN_IP_MCAST, id, err)
	}
	resp, err := ask[abi.RDMAUCMJoinIPMcast, abi.RDMAUCMCreateIDResp](c, abi.RDMA_USER_CM_CMD_JOIN_IP_MCAST, id,
		func(q *abi.RDMAUCMJoinIPMcast, answer uint64) {
			q.Response, q.UID, q.ID, q.Addr = answer, uid, id, in6
		})
	return resp.ID, err
}

// LeaveMulticast leaves a group by the handle of the join (LEAVE_MCAST) and
// returns how many of the group's events were fetched.
func (c *Channel) LeaveMulticast(mc uint32) (eventsReported uint32, err error) {
	resp, err := ask[abi.RDMAUCMDestroyID, abi.RDMAUCMDestroyIDResp](c, abi.RDMA_USER_CM_CMD_LEAVE_MCAST, mc,
		func(q *abi.RDMAUCMDestroyID, answer uint64) { q.Response, q.ID = answer, mc })
	return resp.EventsReported, err
}
