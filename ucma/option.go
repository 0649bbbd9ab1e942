package ucma

import (
	"encoding/binary"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// SetOption sets an option of an ID (SET_OPTION). level is RDMA_OPTION_ID or
// RDMA_OPTION_IB. A wrong length is EINVAL, an unknown option ENOSYS.
func (c *Channel) SetOption(id, level, name uint32, value []byte) error {
	if len(value) > maxOption {
		return fail(abi.RDMA_USER_CM_CMD_SET_OPTION, id, errOptionSize)
	}
	b, err := offheap.Get()
	if err != nil {
		return fail(abi.RDMA_USER_CM_CMD_SET_OPTION, id, err)
	}
	defer b.Release()
	q, frame, _ := begin[abi.RDMAUCMSetOption](b, abi.RDMA_USER_CM_CMD_SET_OPTION)
	q.ID, q.Level, q.Optname, q.Optlen = id, level, name, uint32(len(value))
	// The value goes by address, so it is copied next to the command.
	copied := b.AllocBytes(len(value))
	copy(copied, value)
	q.Optval = offheap.AddrBytes(copied)
	return fail(abi.RDMA_USER_CM_CMD_SET_OPTION, id, c.file.Write(frame))
}

// SetTOS sets the type of service of an ID's traffic (RDMA_OPTION_ID_TOS).
func (c *Channel) SetTOS(id uint32, tos uint8) error {
	return c.SetOption(id, abi.RDMA_OPTION_ID, abi.RDMA_OPTION_ID_TOS, []byte{tos})
}

// SetReuseAddr lets several IDs bind one address (RDMA_OPTION_ID_REUSEADDR).
// Listening still needs the address alone.
func (c *Channel) SetReuseAddr(id uint32, on bool) error {
	return c.SetOption(id, abi.RDMA_OPTION_ID, abi.RDMA_OPTION_ID_REUSEADDR, cInt(on))
}

// SetAFOnly keeps an IPv6 wildcard from taking IPv4 too
// (RDMA_OPTION_ID_AFONLY). Only before listening.
func (c *Channel) SetAFOnly(id uint32, on bool) error {
	return c.SetOption(id, abi.RDMA_OPTION_ID, abi.RDMA_OPTION_ID_AFONLY, cInt(on))
}

// SetACKTimeout sets the local ACK time-out exponent of the queue pair (0 to
// 31; 4.096 µs · 2^n; 0 means none), before the route is resolved
// (RDMA_OPTION_ID_ACK_TIMEOUT; kernel 5.1).
func (c *Channel) SetACKTimeout(id uint32, exponent uint8) error {
	return c.SetOption(id, abi.RDMA_OPTION_ID, abi.RDMA_OPTION_ID_ACK_TIMEOUT, []byte{exponent})
}

// SetIBPath gives an ID in state address-resolved its path records
// (RDMA_OPTION_IB_PATH) instead of ResolveRoute. The kernel answers with the
// event ROUTE_RESOLVED and uses the first record whose flags say primary,
// bidirectional and GMP.
func (c *Channel) SetIBPath(id uint32, paths []abi.IBPathRecData) error {
	var value []byte
	for i := range paths {
		value = append(value, offheap.BytesOf(&paths[i])...)
	}
	return c.SetOption(id, abi.RDMA_OPTION_IB, abi.RDMA_OPTION_IB_PATH, value)
}

// cInt is a C int in host order.
func cInt(on bool) []byte {
	var v uint32
	if on {
		v = 1
	}
	return binary.NativeEndian.AppendUint32(nil, v)
}
