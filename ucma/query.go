package ucma

import (
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// A Route is what the kernel knows of an ID's two ends, in one answer.
type Route struct {
	Src, Dst    Sockaddr // zero until known
	NodeGUID    uint64   // of the bound device, big-endian as the kernel stores it; 0 without device
	DeviceIndex uint32   // of the bound device, as RDMA netlink numbers it; kernel 5.8
	Port        uint8    // of the bound device, from 1; 0 without device
	NumPaths    uint32   // valid entries of Paths
	Paths       [2]abi.IBUserPathRec
}

// QueryRoute reads both addresses, device, port and path records of an ID
// that uses IP addresses (QUERY_ROUTE).
func (c *Channel) QueryRoute(id uint32) (*Route, error) {
	route := new(Route)
	err := exchange(c, abi.RDMA_USER_CM_CMD_QUERY_ROUTE, id,
		func(q *abi.RDMAUCMQuery, answer uint64) { q.Response, q.ID = answer, id },
		route.decode)
	if err != nil {
		return nil, err
	}
	return route, nil
}

func (route *Route) decode(r *abi.RDMAUCMQueryRouteResp) {
	route.Src = sockaddrFromRaw(offheap.BytesOf(&r.SrcAddr))
	route.Dst = sockaddrFromRaw(offheap.BytesOf(&r.DstAddr))
	route.NodeGUID, route.DeviceIndex, route.Port = r.NodeGUID, r.IbdevIndex, r.PortNum
	route.NumPaths = min(r.NumPaths, uint32(len(r.IBRoute)))
	route.Paths = r.IBRoute
}

// An AddrInfo is the answer of QueryAddr and QueryGID.
type AddrInfo struct {
	Src, Dst    Sockaddr
	NodeGUID    uint64 // as in Route
	DeviceIndex uint32
	Port        uint8
	PKey        uint16 // partition key; 0 on RoCE
}

// QueryAddr reads an ID's addresses, device and port for any address family
// (QUERY, option ADDR; kernel 3.11).
func (c *Channel) QueryAddr(id uint32) (AddrInfo, error) {
	return c.queryAddr(id, abi.RDMA_USER_CM_QUERY_ADDR)
}

// QueryGID is QueryAddr with both addresses in AF_IB form, their GIDs (QUERY,
// option GID; kernel 3.11).
func (c *Channel) QueryGID(id uint32) (AddrInfo, error) {
	return c.queryAddr(id, abi.RDMA_USER_CM_QUERY_GID)
}

func (c *Channel) queryAddr(id, option uint32) (info AddrInfo, err error) {
	err = exchange(c, abi.RDMA_USER_CM_CMD_QUERY, id,
		func(q *abi.RDMAUCMQuery, answer uint64) { q.Response, q.ID, q.Option = answer, id, option },
		info.decode)
	return info, err
}

func (info *AddrInfo) decode(r *abi.RDMAUCMQueryAddrResp) {
	*info = AddrInfo{
		Src: sockaddrFromRaw(r.SrcAddr.Bytes()), Dst: sockaddrFromRaw(r.DstAddr.Bytes()),
		NodeGUID: r.NodeGUID, DeviceIndex: r.IbdevIndex, Port: r.PortNum, PKey: r.PKey,
	}
}

// Room for answers of variable length. A path answer with no room to spare
// loses its last record on kernels 5.10 and 6.12, hence one more than the six
// the kernel keeps at most.
const (
	pathRoom    = 7
	serviceRoom = 8
)

// QueryPath reads the path records of an ID with its route resolved (QUERY,
// option PATH; kernel 3.11).
func (c *Channel) QueryPath(id uint32) ([]abi.IBPathRecData, error) {
	return queryList[abi.IBPathRecData](c, id, abi.RDMA_USER_CM_QUERY_PATH, pathRoom)
}

// QueryIBService reads the service records that ResolveIBService found (QUERY,
// option IB_SERVICE; kernel 6.18, EINVAL or ENOSYS before).
func (c *Channel) QueryIBService(id uint32) ([]abi.IBUserServiceRec, error) {
	return queryList[abi.IBUserServiceRec](c, id, abi.RDMA_USER_CM_QUERY_IB_SERVICE, serviceRoom)
}

// queryList decodes an answer of a count and that many records.
func queryList[T any](c *Channel, id, option uint32, room int) ([]T, error) {
	var rec T
	size := int(unsafe.Sizeof(rec))
	b, err := exchangeBytes(c, abi.RDMA_USER_CM_CMD_QUERY, id, listHeader+room*size,
		func(q *abi.RDMAUCMQuery, answer uint64) { q.Response, q.ID, q.Option = answer, id, option })
	if err != nil {
		return nil, err
	}
	list, err := decodeList[T](b)
	return list, fail(abi.RDMA_USER_CM_CMD_QUERY, id, err)
}

// listHeader is the size of the count and its padding.
const listHeader = 8

// decodeList copies the records behind the count out of b. A count that
// exceeds the bytes there is cut to them.
func decodeList[T any](b []byte) ([]T, error) {
	var rec T
	size := int(unsafe.Sizeof(rec))
	if len(b) < listHeader {
		return nil, syscall.EIO
	}
	n := hostUint32(b)
	b = b[listHeader:]
	if have := uint32(len(b) / size); n > have {
		n = have
	}
	list := make([]T, n)
	for i := range list {
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&list[i])), size), b[i*size:])
	}
	return list, nil
}
