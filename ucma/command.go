package ucma

import (
	"fmt"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// begin lays out a command in off-heap memory: the header, then the request.
// The returned bytes are what write(2) takes. Requests are passed at full
// length always: the kernel copies the whole struct whatever the header says.
func begin[Req any](b *offheap.Block, cmd uint32) (req *Req, frame []byte, hdr *abi.RDMAUCMCmdHdr) {
	hdr = offheap.Alloc[abi.RDMAUCMCmdHdr](b)
	req = offheap.Alloc[Req](b)
	hdr.Cmd = cmd
	hdr.In = uint16(unsafe.Sizeof(*req))
	return req, b.Used(), hdr
}

// exchange runs one command. fill writes the request and stores the address
// of the answer where the request wants it; take reads the answer, which is
// gone afterwards. Large structs stay where they are: copied from frame to
// frame they would outgrow the small stack of a goroutine that makes one
// connection.
func exchange[Req, Resp any](c *Channel, cmd, id uint32, fill func(req *Req, answer uint64), take func(*Resp)) error {
	b, err := offheap.Get()
	if err != nil {
		return fail(cmd, id, err)
	}
	defer b.Release()
	req, frame, hdr := begin[Req](b, cmd)
	resp := offheap.Alloc[Resp](b)
	hdr.Out = uint16(unsafe.Sizeof(*resp))
	fill(req, offheap.Addr(resp))
	if err := c.file.Write(frame); err != nil {
		return fail(cmd, id, err)
	}
	take(resp)
	return nil
}

// ask is exchange for small answers.
func ask[Req, Resp any](c *Channel, cmd, id uint32, fill func(req *Req, answer uint64)) (resp Resp, err error) {
	err = exchange(c, cmd, id, fill, func(r *Resp) { resp = *r })
	return resp, err
}

// run is exchange for commands without an answer.
func run[Req any](c *Channel, cmd, id uint32, fill func(req *Req)) error {
	b, err := offheap.Get()
	if err != nil {
		return fail(cmd, id, err)
	}
	defer b.Release()
	req, frame, _ := begin[Req](b, cmd)
	fill(req)
	return fail(cmd, id, c.file.Write(frame))
}

// exchangeBytes is exchange for answers of variable length: the kernel may
// write up to room bytes. The result is a copy.
func exchangeBytes[Req any](c *Channel, cmd, id uint32, room int, fill func(req *Req, answer uint64)) ([]byte, error) {
	b, err := offheap.Get()
	if err != nil {
		return nil, fail(cmd, id, err)
	}
	defer b.Release()
	req, frame, hdr := begin[Req](b, cmd)
	answer := b.AllocBytes(room)
	hdr.Out = uint16(room)
	fill(req, offheap.AddrBytes(answer))
	if err := c.file.Write(frame); err != nil {
		return nil, fail(cmd, id, err)
	}
	return append([]byte(nil), answer...), nil
}

// commandHasID reports whether a command's error should name an ID.
func commandHasID(cmd uint32) bool {
	return cmd != abi.RDMA_USER_CM_CMD_CREATE_ID && cmd != abi.RDMA_USER_CM_CMD_GET_EVENT
}

var commandNames = [...]string{
	abi.RDMA_USER_CM_CMD_CREATE_ID:          "CREATE_ID",
	abi.RDMA_USER_CM_CMD_DESTROY_ID:         "DESTROY_ID",
	abi.RDMA_USER_CM_CMD_BIND_IP:            "BIND_IP",
	abi.RDMA_USER_CM_CMD_RESOLVE_IP:         "RESOLVE_IP",
	abi.RDMA_USER_CM_CMD_RESOLVE_ROUTE:      "RESOLVE_ROUTE",
	abi.RDMA_USER_CM_CMD_QUERY_ROUTE:        "QUERY_ROUTE",
	abi.RDMA_USER_CM_CMD_CONNECT:            "CONNECT",
	abi.RDMA_USER_CM_CMD_LISTEN:             "LISTEN",
	abi.RDMA_USER_CM_CMD_ACCEPT:             "ACCEPT",
	abi.RDMA_USER_CM_CMD_REJECT:             "REJECT",
	abi.RDMA_USER_CM_CMD_DISCONNECT:         "DISCONNECT",
	abi.RDMA_USER_CM_CMD_INIT_QP_ATTR:       "INIT_QP_ATTR",
	abi.RDMA_USER_CM_CMD_GET_EVENT:          "GET_EVENT",
	abi.RDMA_USER_CM_CMD_GET_OPTION:         "GET_OPTION",
	abi.RDMA_USER_CM_CMD_SET_OPTION:         "SET_OPTION",
	abi.RDMA_USER_CM_CMD_NOTIFY:             "NOTIFY",
	abi.RDMA_USER_CM_CMD_JOIN_IP_MCAST:      "JOIN_IP_MCAST",
	abi.RDMA_USER_CM_CMD_LEAVE_MCAST:        "LEAVE_MCAST",
	abi.RDMA_USER_CM_CMD_MIGRATE_ID:         "MIGRATE_ID",
	abi.RDMA_USER_CM_CMD_QUERY:              "QUERY",
	abi.RDMA_USER_CM_CMD_BIND:               "BIND",
	abi.RDMA_USER_CM_CMD_RESOLVE_ADDR:       "RESOLVE_ADDR",
	abi.RDMA_USER_CM_CMD_JOIN_MCAST:         "JOIN_MCAST",
	abi.RDMA_USER_CM_CMD_RESOLVE_IB_SERVICE: "RESOLVE_IB_SERVICE",
	abi.RDMA_USER_CM_CMD_WRITE_CM_EVENT:     "WRITE_CM_EVENT",
}

// CommandName returns the kernel's name of a command without its common
// prefix, or the number of an unknown one.
func CommandName(cmd uint32) string {
	if int(cmd) < len(commandNames) {
		return commandNames[cmd]
	}
	return fmt.Sprintf("command %d", cmd)
}
