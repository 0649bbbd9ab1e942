package ucma

import (
	"context"
	"encoding/binary"
	"sync"
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// An Event is one report of the kernel about an ID.
type Event struct {
	// UID is the number given by CreateID or Accept. For CONNECT_REQUEST it
	// is the listener's, for multicast events that of the join.
	UID uint64

	// ID is the handle: for CONNECT_REQUEST the new ID of the incoming
	// connection, for multicast events the handle of the join.
	ID uint32

	Type abi.RDMACMEventType

	// Status is 0, a negative errno, or what the transport says: for
	// REJECTED the reason code, for UNREACHABLE of a datagram service the
	// SIDR status.
	Status int32

	ECE ECE // enhanced connection establishment option of the peer; kernel 5.8

	param [76]uint32 // the union of the event, see Conn, UD and Arg
}

// Conn returns what a connection event of a reliable service carries: the
// peer's parameters and private data. For events without it is zero.
func (e *Event) Conn() ConnParam {
	return decodeConnParam((*abi.RDMAUCMConnParam)(unsafe.Pointer(&e.param)))
}

// UD returns what an event of a datagram service or multicast group carries.
// Whether Conn or UD holds depends on the ID's port space, which the event
// does not repeat.
func (e *Event) UD() UDParam {
	ud := (*abi.RDMAUCMUDParam)(unsafe.Pointer(&e.param))
	return UDParam{
		PrivateData: privateData(&ud.PrivateData, ud.PrivateDataLen),
		QPNum:       ud.QPNum, QKey: ud.QKey, AHAttr: ud.AHAttr,
	}
}

// Arg returns the value given to WriteEvent, for the events USER and INTERNAL:
// 64 bits in two words of host order (kernel: ucma_write_cm_event).
func (e *Event) Arg() uint64 {
	var b [8]byte
	binary.NativeEndian.PutUint32(b[:4], e.param[0])
	binary.NativeEndian.PutUint32(b[4:], e.param[1])
	return binary.NativeEndian.Uint64(b[:])
}

// A UDParam is how to reach a datagram service or multicast group.
type UDParam struct {
	PrivateData []byte
	QPNum       uint32
	QKey        uint32
	AHAttr      abi.IBUverbsAHAttr
}

// eventSize is the answer's size in this ABI; minEventSize is the size before
// kernel 5.8 added the ECE fields, and what every kernel writes at least.
const (
	eventSize    = int(unsafe.Sizeof(abi.RDMAUCMEventResp{}))
	minEventSize = 324
)

// GetEvent waits for the next event (GET_EVENT). When ctx ends first, the
// error wraps ctx's error and no event is lost. Concurrent callers take turns.
func (c *Channel) GetEvent(ctx context.Context) (Event, error) {
	b, err := offheap.Get()
	if err != nil {
		return Event{}, fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	defer b.Release()
	frame, answer := getEvent(b)
	// The device announces events by readability although fetching one is a
	// write(2); waiting for writability would wait for ever.
	if err := c.file.WaitRead(ctx, func() error { return c.file.TryWrite(frame) }); err != nil {
		return Event{}, fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	ev, err := decodeEvent(answer)
	if err != nil {
		return Event{}, fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	return *ev, nil
}

// ServeEvents fetches events until ctx ends or fetching fails, and hands each
// to fn, with mu locked from before the event leaves the kernel until fn has
// returned: whoever holds mu knows that no event is on its way. fn must not
// block and must not close the channel; the event is its to keep. It does not
// return nil.
func (c *Channel) ServeEvents(ctx context.Context, mu sync.Locker, fn func(*Event)) error {
	b, err := offheap.Get()
	if err != nil {
		return fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	defer b.Release()
	frame, answer := getEvent(b)
	one := func() error {
		mu.Lock()
		defer mu.Unlock()
		clear(answer) // an older kernel writes less
		if err := c.file.TryWrite(frame); err != nil {
			return err
		}
		ev, err := decodeEvent(answer)
		if err == nil {
			fn(ev)
		}
		return err
	}
	err = c.file.WaitRead(ctx, func() error {
		for {
			if err := one(); err != nil {
				return err
			}
		}
	})
	return fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
}

// UserEvent makes an event of type USER as WriteEvent does, for programs that
// deliver events themselves.
func UserEvent(uid uint64, id uint32, status int32, arg uint64) *Event {
	ev := &Event{UID: uid, ID: id, Type: abi.RDMA_CM_EVENT_USER, Status: status}
	var b [8]byte
	binary.NativeEndian.PutUint64(b[:], arg)
	ev.param[0], ev.param[1] = binary.NativeEndian.Uint32(b[:4]), binary.NativeEndian.Uint32(b[4:])
	return ev
}

// TryGetEvent returns the next event without waiting; the error matches
// syscall.EAGAIN when there is none.
func (c *Channel) TryGetEvent() (Event, error) {
	b, err := offheap.Get()
	if err != nil {
		return Event{}, fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	defer b.Release()
	frame, answer := getEvent(b)
	if err := c.file.Write(frame); err != nil {
		return Event{}, fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	ev, err := decodeEvent(answer)
	if err != nil {
		return Event{}, fail(abi.RDMA_USER_CM_CMD_GET_EVENT, 0, err)
	}
	return *ev, nil
}

func getEvent(b *offheap.Block) (frame, answer []byte) {
	req, frame, hdr := begin[abi.RDMAUCMGetEvent](b, abi.RDMA_USER_CM_CMD_GET_EVENT)
	answer = b.AllocBytes(eventSize)
	req.Response = offheap.AddrBytes(answer)
	hdr.Out = uint16(eventSize)
	return frame, answer
}

// decodeEvent copies an answer out of off-heap memory. Unknown event types
// pass through; bytes an older kernel did not write read as zero.
func decodeEvent(b []byte) (*Event, error) {
	if len(b) < minEventSize {
		return nil, syscall.EIO
	}
	var r abi.RDMAUCMEventResp
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&r)), eventSize), b)
	return &Event{
		UID: r.UID, ID: r.ID, Type: abi.RDMACMEventType(r.Event), Status: int32(r.Status),
		ECE:   ECE{VendorID: r.ECE.VendorID, AttrMod: r.ECE.AttrMod},
		param: r.Param,
	}, nil
}

// WriteEvent puts an event of type USER for an ID into its channel's queue
// (WRITE_CM_EVENT; kernel 6.18, EINVAL before). It wakes a blocked GetEvent.
func (c *Channel) WriteEvent(id uint32, event abi.RDMACMEventType, status int32, arg uint64) error {
	return run(c, abi.RDMA_USER_CM_CMD_WRITE_CM_EVENT, id, func(q *abi.RDMAUCMWriteCMEvent) {
		q.ID, q.Event, q.Status = id, uint32(event), uint32(status)
		*q.ParamArg() = arg
	})
}

func hostUint32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
