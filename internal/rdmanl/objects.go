package rdmanl

import (
	"context"

	"github.com/purerdma/rdma/abi"
)

// Object is one protection domain, completion queue, memory region or shared
// receive queue.
type Object struct {
	Owner
	ID uint32 // restrack id

	// Length is the bytes of a memory region, Entries the size of a completion
	// queue; else 0.
	Length  uint64
	Entries uint32
}

// A Kind is a kind of object that [Client.Objects] lists.
type Kind string

// Kinds of objects, by the names of [Client.Resources].
const (
	KindPD  Kind = "pd"
	KindCQ  Kind = "cq"
	KindMR  Kind = "mr"
	KindSRQ Kind = "srq" // kernel 5.13; before, the error matches EINVAL
)

type objectTable struct {
	name             string
	cmd              abi.RDMANldevCommand
	table, entry, id abi.RDMANldevAttr
}

var objectTables = map[Kind]objectTable{
	KindPD: {"RES_PD_GET", abi.RDMA_NLDEV_CMD_RES_PD_GET, abi.RDMA_NLDEV_ATTR_RES_PD,
		abi.RDMA_NLDEV_ATTR_RES_PD_ENTRY, abi.RDMA_NLDEV_ATTR_RES_PDN},
	KindCQ: {"RES_CQ_GET", abi.RDMA_NLDEV_CMD_RES_CQ_GET, abi.RDMA_NLDEV_ATTR_RES_CQ,
		abi.RDMA_NLDEV_ATTR_RES_CQ_ENTRY, abi.RDMA_NLDEV_ATTR_RES_CQN},
	KindMR: {"RES_MR_GET", abi.RDMA_NLDEV_CMD_RES_MR_GET, abi.RDMA_NLDEV_ATTR_RES_MR,
		abi.RDMA_NLDEV_ATTR_RES_MR_ENTRY, abi.RDMA_NLDEV_ATTR_RES_MRN},
	KindSRQ: {"RES_SRQ_GET", abi.RDMA_NLDEV_CMD_RES_SRQ_GET, abi.RDMA_NLDEV_ATTR_RES_SRQ,
		abi.RDMA_NLDEV_ATTR_RES_SRQ_ENTRY, abi.RDMA_NLDEV_ATTR_RES_SRQN},
}

// Objects lists the objects of one kind on a device, the kernel's own included.
// Objects of processes in PID namespaces that the caller does not see are left
// out by the kernel (rdma_is_visible_in_pid_ns).
func (c *Client) Objects(ctx context.Context, index int, kind Kind) ([]Object, error) {
	t := objectTables[kind]
	payloads, err := c.ask(ctx, t.cmd, true, []attr{devIndex(index)})
	if err != nil {
		return nil, wrap(t.name, deviceObject(index), err)
	}
	out, err := decodeTable(payloads, t.table, t.entry, func(o *Object, a attr) error {
		switch abi.RDMANldevAttr(a.typ) {
		case t.id:
			return a.u32(&o.ID)
		case abi.RDMA_NLDEV_ATTR_RES_MRLEN:
			return a.u64(&o.Length)
		case abi.RDMA_NLDEV_ATTR_RES_CQE:
			return a.u32(&o.Entries)
		}
		return o.Owner.attr(a)
	})
	return out, wrap(t.name, deviceObject(index), err)
}
