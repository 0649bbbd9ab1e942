package rdmanl

import (
	"context"
	"encoding/binary"
	"net/netip"

	"github.com/purerdma/rdma/abi"
)

// Resources asks how many objects of each kind a device has, by the kernel's names:
// pd, cq, qp, cm_id, mr, ctx and, on newer kernels, srq.
func (c *Client) Resources(ctx context.Context, index int) (map[string]uint64, error) {
	counts := make(map[string]uint64)
	err := c.one(ctx, abi.RDMA_NLDEV_CMD_RES_GET, []attr{devIndex(index)}, func(a attr) error {
		if abi.RDMANldevAttr(a.typ) != abi.RDMA_NLDEV_ATTR_RES_SUMMARY {
			return nil
		}
		return decodeSummary(a.data, counts)
	})
	if err != nil {
		return nil, wrap("RES_GET", deviceObject(index), err)
	}
	return counts, nil
}

func decodeSummary(b []byte, counts map[string]uint64) error {
	return forEachAttr(b, func(a attr) error {
		if abi.RDMANldevAttr(a.typ) != abi.RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY {
			return nil
		}
		var name string
		var count uint64
		err := forEachAttr(a.data, func(a attr) error {
			switch abi.RDMANldevAttr(a.typ) {
			case abi.RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME:
				return a.str(&name)
			case abi.RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR:
				return a.u64(&count)
			}
			return nil
		})
		if err == nil && name != "" {
			counts[name] = count
		}
		return err
	})
}

// Owner says whose an object is.
type Owner struct {
	// PID is the process that made the object, as numbered in the caller's PID
	// namespace; 0 for objects of the kernel.
	PID uint32
	// KernelName is the name of the kernel module that made the object; empty for
	// objects of a process.
	KernelName string
}

func (o *Owner) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_RES_PID:
		return a.u32(&o.PID)
	case abi.RDMA_NLDEV_ATTR_RES_KERN_NAME:
		return a.str(&o.KernelName)
	}
	return nil
}

// QP is one queue pair of a device.
type QP struct {
	Owner
	Number, RemoteNumber uint32
	Port                 uint32
	Type, State          uint8 // enum ib_qp_type, enum ib_qp_state
}

// QPs lists the queue pairs of a device, the kernel's own included.
func (c *Client) QPs(ctx context.Context, index int) ([]QP, error) {
	payloads, err := c.ask(ctx, abi.RDMA_NLDEV_CMD_RES_QP_GET, true, []attr{devIndex(index)})
	if err != nil {
		return nil, wrap("RES_QP_GET", deviceObject(index), err)
	}
	qps, err := decodeTable(payloads, abi.RDMA_NLDEV_ATTR_RES_QP, abi.RDMA_NLDEV_ATTR_RES_QP_ENTRY, (*QP).attr)
	return qps, wrap("RES_QP_GET", deviceObject(index), err)
}

func (q *QP) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_RES_LQPN:
		return a.u32(&q.Number)
	case abi.RDMA_NLDEV_ATTR_RES_RQPN:
		return a.u32(&q.RemoteNumber)
	case abi.RDMA_NLDEV_ATTR_PORT_INDEX:
		return a.u32(&q.Port)
	case abi.RDMA_NLDEV_ATTR_RES_TYPE:
		return a.u8(&q.Type)
	case abi.RDMA_NLDEV_ATTR_RES_STATE:
		return a.u8(&q.State)
	}
	return q.Owner.attr(a)
}

// CMID is one connection-manager ID that is bound to a device.
type CMID struct {
	Owner
	ID          uint32 // restrack id, not the handle of the rdma_cm device
	PortSpace   uint32
	State       uint8 // enum rdma_cm_state
	QPNumber    uint32
	Source, Dst netip.AddrPort // invalid or zero when unset; invalid when not IP
}

// CMIDs lists the connection-manager IDs that are bound to a device.
func (c *Client) CMIDs(ctx context.Context, index int) ([]CMID, error) {
	payloads, err := c.ask(ctx, abi.RDMA_NLDEV_CMD_RES_CM_ID_GET, true, []attr{devIndex(index)})
	if err != nil {
		return nil, wrap("RES_CM_ID_GET", deviceObject(index), err)
	}
	ids, err := decodeTable(payloads, abi.RDMA_NLDEV_ATTR_RES_CM_ID, abi.RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, (*CMID).attr)
	return ids, wrap("RES_CM_ID_GET", deviceObject(index), err)
}

func (m *CMID) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_RES_CM_IDN:
		return a.u32(&m.ID)
	case abi.RDMA_NLDEV_ATTR_RES_PS:
		return a.u32(&m.PortSpace)
	case abi.RDMA_NLDEV_ATTR_RES_STATE:
		return a.u8(&m.State)
	case abi.RDMA_NLDEV_ATTR_RES_LQPN:
		return a.u32(&m.QPNumber)
	case abi.RDMA_NLDEV_ATTR_RES_SRC_ADDR:
		m.Source = sockaddr(a.data)
	case abi.RDMA_NLDEV_ATTR_RES_DST_ADDR:
		m.Dst = sockaddr(a.data)
	}
	return m.Owner.attr(a)
}

// Context is one open verbs context of a device.
type Context struct {
	Owner
	ID uint32
}

// Contexts lists the verbs contexts that processes have on a device. Kernels before
// 5.16 do not know the command and answer EINVAL.
func (c *Client) Contexts(ctx context.Context, index int) ([]Context, error) {
	payloads, err := c.ask(ctx, abi.RDMA_NLDEV_CMD_RES_CTX_GET, true, []attr{devIndex(index)})
	if err != nil {
		return nil, wrap("RES_CTX_GET", deviceObject(index), err)
	}
	out, err := decodeTable(payloads, abi.RDMA_NLDEV_ATTR_RES_CTX, abi.RDMA_NLDEV_ATTR_RES_CTX_ENTRY, (*Context).attr)
	return out, wrap("RES_CTX_GET", deviceObject(index), err)
}

func (x *Context) attr(a attr) error {
	if abi.RDMANldevAttr(a.typ) == abi.RDMA_NLDEV_ATTR_RES_CTXN {
		return a.u32(&x.ID)
	}
	return x.Owner.attr(a)
}

// decodeTable gathers the entries of a resource dump. Each message of the dump holds
// one table, each table any number of entries.
func decodeTable[T any](payloads [][]byte, table, entry abi.RDMANldevAttr, field func(*T, attr) error) ([]T, error) {
	var out []T
	for _, p := range payloads {
		err := forEachAttr(p, func(a attr) error {
			if abi.RDMANldevAttr(a.typ) != table {
				return nil
			}
			return forEachAttr(a.data, func(a attr) error {
				if abi.RDMANldevAttr(a.typ) != entry {
					return nil
				}
				var v T
				if err := forEachAttr(a.data, func(a attr) error { return field(&v, a) }); err != nil {
					return err
				}
				out = append(out, v)
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Address families and offsets of Linux sockaddrs, which are the same on all its
// architectures; package syscall has them for the system it is built for only.
const (
	afInet  = 2
	afInet6 = 10
)

// sockaddr reads an IPv4 or IPv6 socket address. Other families (AF_IB) give the
// invalid AddrPort.
func sockaddr(b []byte) netip.AddrPort {
	if len(b) < 8 {
		return netip.AddrPort{}
	}
	port := binary.BigEndian.Uint16(b[2:])
	switch family := binary.NativeEndian.Uint16(b); {
	case family == afInet:
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(b[4:8])), port)
	case family == afInet6 && len(b) >= 24:
		return netip.AddrPortFrom(netip.AddrFrom16([16]byte(b[8:24])), port)
	}
	return netip.AddrPort{}
}
