// This file holds enums of include/rdma/rdma_cm.h, a kernel header that is not installed
// for user space.

package abi

// RDMACMEventType is enum rdma_cm_event_type of include/rdma/rdma_cm.h, the type of an
// event (RDMAUCMEventResp.Event). The last four are newer than Linux 6.12 as far as its
// header tells; rdma-core 64 knows them.
type RDMACMEventType uint32

// Values of RDMACMEventType.
const (
	RDMA_CM_EVENT_ADDR_RESOLVED     RDMACMEventType = 0
	RDMA_CM_EVENT_ADDR_ERROR        RDMACMEventType = 1
	RDMA_CM_EVENT_ROUTE_RESOLVED    RDMACMEventType = 2
	RDMA_CM_EVENT_ROUTE_ERROR       RDMACMEventType = 3
	RDMA_CM_EVENT_CONNECT_REQUEST   RDMACMEventType = 4
	RDMA_CM_EVENT_CONNECT_RESPONSE  RDMACMEventType = 5
	RDMA_CM_EVENT_CONNECT_ERROR     RDMACMEventType = 6
	RDMA_CM_EVENT_UNREACHABLE       RDMACMEventType = 7
	RDMA_CM_EVENT_REJECTED          RDMACMEventType = 8
	RDMA_CM_EVENT_ESTABLISHED       RDMACMEventType = 9
	RDMA_CM_EVENT_DISCONNECTED      RDMACMEventType = 10
	RDMA_CM_EVENT_DEVICE_REMOVAL    RDMACMEventType = 11
	RDMA_CM_EVENT_MULTICAST_JOIN    RDMACMEventType = 12
	RDMA_CM_EVENT_MULTICAST_ERROR   RDMACMEventType = 13
	RDMA_CM_EVENT_ADDR_CHANGE       RDMACMEventType = 14
	RDMA_CM_EVENT_TIMEWAIT_EXIT     RDMACMEventType = 15
	RDMA_CM_EVENT_ADDRINFO_RESOLVED RDMACMEventType = 16
	RDMA_CM_EVENT_ADDRINFO_ERROR    RDMACMEventType = 17
	RDMA_CM_EVENT_USER              RDMACMEventType = 18
	RDMA_CM_EVENT_INTERNAL          RDMACMEventType = 19
)

// What the kernel's CM puts on the wire for IP port spaces: masks and prefixes
// of the 64-bit service ID (include/rdma/rdma_cm.h), the Q_Key of datagram QPs
// (include/rdma/rdma_cm_ib.h) and the UDP port of RoCE v2
// (include/rdma/ib_verbs.h).
const (
	RDMA_IB_IP_PS_MASK = 0xFFFFFFFFFFFF0000
	RDMA_IB_IP_PS_TCP  = 0x0000000001060000
	RDMA_IB_IP_PS_UDP  = 0x0000000001110000
	RDMA_IB_IP_PS_IB   = 0x00000000013F0000
	RDMA_UDP_QKEY      = 0x01234567
	ROCE_V2_UDP_DPORT  = 4791
)
