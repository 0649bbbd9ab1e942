package uverbs

import (
	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// protReadWrite is PROT_READ|PROT_WRITE, which all systems number alike.
const protReadWrite = 3

// env is what a driver may do with the context it belongs to.
type env struct{ c *Context }

var _ provider.Env = env{}

func (e env) Map(offset int64, length int) ([]byte, error) {
	return e.c.file.Mmap(offset, length, protReadWrite)
}

func (e env) Unmap(mem []byte) error { return e.c.file.Munmap(mem) }

func (e env) PostSendDoorbell(qp uint32) error { return e.c.ring(&e.c.bells.send, qp) }

func (e env) PostRecvDoorbell(qp uint32) error { return e.c.ring(&e.c.bells.recv, qp) }

func (e env) ArmCQ(cq uint32, solicitedOnly bool) error {
	if solicitedOnly {
		return e.c.ring(&e.c.bells.armSolicited, cq)
	}
	return e.c.ring(&e.c.bells.arm, cq)
}

// addQPBells prepares the doorbells of a QP. The kernel insists on a request
// size of at least its struct's even for no requests (ib_uverbs_post_send).
func (c *Context) addQPBells(handle uint32) error {
	send := abi.IBUverbsPostSend{QPHandle: handle, WQESize: uint32(size[abi.IBUverbsSendWR]())}
	if err := c.addBell(&c.bells.send, handle, &cmdPostSend, offheap.BytesOf(&send)); err != nil {
		return err
	}
	recv := abi.IBUverbsPostRecv{QPHandle: handle, WQESize: uint32(size[abi.IBUverbsRecvWR]())}
	if err := c.addBell(&c.bells.recv, handle, &cmdPostRecv, offheap.BytesOf(&recv)); err != nil {
		c.dropBell(&c.bells.send, handle)
		return err
	}
	return nil
}

func (c *Context) dropQPBells(handle uint32) {
	c.dropBell(&c.bells.send, handle)
	c.dropBell(&c.bells.recv, handle)
}

// addCQBells prepares both ways to arm a CQ.
func (c *Context) addCQBells(handle uint32) error {
	arm := abi.IBUverbsReqNotifyCQ{CQHandle: handle}
	if err := c.addBell(&c.bells.arm, handle, &cmdReqNotifyCQ, offheap.BytesOf(&arm)); err != nil {
		return err
	}
	arm.SolicitedOnly = 1
	if err := c.addBell(&c.bells.armSolicited, handle, &cmdReqNotifyCQ, offheap.BytesOf(&arm)); err != nil {
		c.dropBell(&c.bells.arm, handle)
		return err
	}
	return nil
}

func (c *Context) dropCQBells(handle uint32) {
	c.dropBell(&c.bells.arm, handle)
	c.dropBell(&c.bells.armSolicited, handle)
}
