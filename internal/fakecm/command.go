package fakecm

import (
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

const hdrSize = int(unsafe.Sizeof(abi.RDMAUCMCmdHdr{}))

// split checks the frame as ucma_write does: it may be longer than the header
// says, never shorter.
func split(p []byte) (hdr abi.RDMAUCMCmdHdr, req []byte, err error) {
	if len(p) < hdrSize {
		return hdr, nil, syscall.EINVAL
	}
	hdr = *view[abi.RDMAUCMCmdHdr](p)
	if hdrSize+int(hdr.In) > len(p) {
		return hdr, nil, syscall.EINVAL
	}
	return hdr, p[hdrSize:], nil
}

// view reads a struct at the start of b; nil when b is too short.
func view[T any](b []byte) *T {
	if len(b) < int(unsafe.Sizeof(*new(T))) {
		return nil
	}
	v := new(T)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)), b)
	return v
}

// answer writes v to the address that a request names, up to room bytes.
func answer[T any](addr uint64, room uint16, v T) error {
	return answerBytes(addr, int(room), unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
}

func answerBytes(addr uint64, room int, b []byte) error {
	if addr == 0 {
		return syscall.EFAULT
	}
	n := min(room, len(b))
	copy(unsafe.Slice((*byte)(pointer(addr)), n), b[:n])
	return nil
}

// pointer makes a pointer of an address outside the Go heap.
func pointer(addr uint64) unsafe.Pointer {
	a := uintptr(addr)
	return *(*unsafe.Pointer)(unsafe.Pointer(&a))
}

// A handler runs one command; out is the room for the answer.
type handler func(f *file, req []byte, out uint16) error

// command is what the kernel demands of a command: room for the smallest
// answer it knows.
type command struct {
	minOut int
	run    handler
}

// decoding makes a handler that gets its request as a struct. The kernel
// copies the whole struct whatever the header says.
func decoding[Req any](minOut int, run func(f *file, q *Req, out uint16) error) command {
	return command{minOut, func(f *file, req []byte, out uint16) error {
		q := view[Req](req)
		if q == nil {
			return syscall.EFAULT
		}
		return run(f, q, out)
	}}
}

var commands map[uint32]command

func init() { // the handlers refer to the table through run
	commands = map[uint32]command{
		abi.RDMA_USER_CM_CMD_CREATE_ID:          decoding(4, (*file).createID),
		abi.RDMA_USER_CM_CMD_DESTROY_ID:         decoding(4, (*file).destroyID),
		abi.RDMA_USER_CM_CMD_BIND_IP:            decoding(0, (*file).bindIP),
		abi.RDMA_USER_CM_CMD_RESOLVE_IP:         decoding(0, (*file).resolveIP),
		abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE:      decoding(0, (*file).resolveRoute),
		abi.RDMA_USER_CM_CMD_QUERY_ROUTE:        decoding(200, (*file).queryRoute),
		abi.RDMA_USER_CM_CMD_CONNECT:            decoding(0, (*file).connect),
		abi.RDMA_USER_CM_CMD_LISTEN:             decoding(0, (*file).listen),
		abi.RDMA_USER_CM_CMD_ACCEPT:             decoding(0, (*file).accept),
		abi.RDMA_USER_CM_CMD_REJECT:             decoding(0, (*file).reject),
		abi.RDMA_USER_CM_CMD_DISCONNECT:         decoding(0, (*file).disconnect),
		abi.RDMA_USER_CM_CMD_INIT_QP_ATTR:       decoding(144, (*file).initQPAttr),
		abi.RDMA_USER_CM_CMD_GET_EVENT:          decoding(324, (*file).getEvent),
		abi.RDMA_USER_CM_CMD_SET_OPTION:         decoding(0, (*file).setOption),
		abi.RDMA_USER_CM_CMD_NOTIFY:             decoding(0, (*file).notify),
		abi.RDMA_USER_CM_CMD_JOIN_IP_MCAST:      decoding(4, (*file).joinIP),
		abi.RDMA_USER_CM_CMD_LEAVE_MCAST:        decoding(4, (*file).leave),
		abi.RDMA_USER_CM_CMD_MIGRATE_ID:         decoding(4, (*file).migrate),
		abi.RDMA_USER_CM_CMD_QUERY:              decoding(0, (*file).query),
		abi.RDMA_USER_CM_CMD_BIND:               decoding(0, (*file).bind),
		abi.RDMA_USER_CM_CMD_RESOLVE_ADDR:       decoding(0, (*file).resolveAddr),
		abi.RDMA_USER_CM_CMD_JOIN_MCAST:         decoding(4, (*file).join),
		abi.RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE: decoding(0, (*file).resolveService),
		abi.RDMA_USER_CM_CMD_WRITE_CM_EVENT:     decoding(0, (*file).writeEvent),
	}
}

// run looks the command up and runs it. The caller holds mu.
func (f *file) run(hdr abi.RDMAUCMCmdHdr, req []byte) error {
	if hdr.Cmd == abi.RDMA_USER_CM_CMD_GET_OPTION {
		return syscall.ENOSYS // a hole in the kernel's table
	}
	c, ok := commands[hdr.Cmd]
	if !ok || f.k.Old && hdr.Cmd >= abi.RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE {
		return syscall.EINVAL
	}
	if int(hdr.Out) < c.minOut {
		return syscall.ENOSPC
	}
	return c.run(f, req, hdr.Out)
}

// idOffset is where a request names its ID.
var idOffset = map[uint32]int{
	abi.RDMA_USER_CM_CMD_DESTROY_ID: 8, abi.RDMA_USER_CM_CMD_BIND_IP: 36, abi.RDMA_USER_CM_CMD_RESOLVE_IP: 56,
	abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE: 0, abi.RDMA_USER_CM_CMD_QUERY_ROUTE: 8, abi.RDMA_USER_CM_CMD_CONNECT: 272,
	abi.RDMA_USER_CM_CMD_LISTEN: 0, abi.RDMA_USER_CM_CMD_ACCEPT: 280, abi.RDMA_USER_CM_CMD_REJECT: 0,
	abi.RDMA_USER_CM_CMD_DISCONNECT: 0, abi.RDMA_USER_CM_CMD_INIT_QP_ATTR: 8, abi.RDMA_USER_CM_CMD_SET_OPTION: 8,
	abi.RDMA_USER_CM_CMD_NOTIFY: 0, abi.RDMA_USER_CM_CMD_JOIN_IP_MCAST: 44, abi.RDMA_USER_CM_CMD_LEAVE_MCAST: 8,
	abi.RDMA_USER_CM_CMD_MIGRATE_ID: 8, abi.RDMA_USER_CM_CMD_QUERY: 8, abi.RDMA_USER_CM_CMD_BIND: 0,
	abi.RDMA_USER_CM_CMD_RESOLVE_ADDR: 0, abi.RDMA_USER_CM_CMD_JOIN_MCAST: 16,
	abi.RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE: 0, abi.RDMA_USER_CM_CMD_WRITE_CM_EVENT: 0,
}

func requestID(cmd uint32, req []byte) uint32 {
	off, ok := idOffset[cmd]
	if !ok || off+4 > len(req) {
		return 0
	}
	return *view[uint32](req[off:])
}

// find returns the ID on this file (ucma_get_ctx).
func (f *file) find(handle uint32) (*id, error) {
	i := f.k.ids[handle]
	switch {
	case i == nil:
		return nil, syscall.ENOENT
	case i.file != f:
		return nil, syscall.EINVAL
	}
	return i, nil
}

// findBound is find for commands that need the device (ucma_get_ctx_dev).
func (f *file) findAlive(handle uint32) (*id, error) {
	i, err := f.find(handle)
	if err == nil && i.removed {
		return nil, syscall.ENXIO
	}
	return i, err
}
