package cm

import (
	"context"
	"fmt"
	"io"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// Send sends the concatenation of slices as one message and returns when the
// peer's device has it in a receive buffer. Without slices the message is
// empty. Errors end the connection, except those of parameters and contexts.
func (c *Conn) Send(ctx context.Context, slices ...Slice) error {
	return c.transfer(ctx, "send", uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND}, nil, slices)
}

// SendImm is Send with an immediate value beside the message.
func (c *Conn) SendImm(ctx context.Context, imm uint32, slices ...Slice) error {
	return c.transfer(ctx, "send", uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Imm: imm}, nil, slices)
}

// SendCopy sends p, which may be any Go memory, as one message: it is copied
// into memory of the connection first. len(p) is at most Config.RecvSize
// (EMSGSIZE).
//
// That memory, Config.SendDepth times Config.RecvSize bytes, is registered by the
// first call with more than Config.MaxInline bytes: it doubles what a connection
// with the default Config locks in RAM, and fails with syscall.ENOMEM where
// RLIMIT_MEMLOCK does not allow that.
func (c *Conn) SendCopy(ctx context.Context, p []byte) error {
	_, err := c.perform(ctx, func(i uint32, s *sendSlot) error {
		s.wr[0].Opcode = abi.IB_UVERBS_WR_SEND
		return c.copyOut(i, s, p)
	})
	return c.opErrorOrNil("send", err)
}

// Write writes the concatenation of slices into the peer's memory dst
// (RDMA write). The peer's program is not told.
func (c *Conn) Write(ctx context.Context, dst RemoteMemory, slices ...Slice) error {
	return c.transfer(ctx, "write", uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE}, &dst, slices)
}

// WriteImm is Write and then a message to the peer without data but with an
// immediate value, which tells that the write is complete. It uses one of the
// peer's receive buffers.
func (c *Conn) WriteImm(ctx context.Context, dst RemoteMemory, imm uint32, slices ...Slice) error {
	return c.transfer(ctx, "write", uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, Imm: imm}, &dst, slices)
}

// Read reads the peer's memory src into the slices, in order (RDMA read). It
// reads as many bytes as the slices have. When the peer serves no reads the error
// matches errors.ErrUnsupported, and nothing has happened.
func (c *Conn) Read(ctx context.Context, src RemoteMemory, slices ...Slice) error {
	if err := c.checkReads(); err != nil {
		return c.opError("read", err)
	}
	if c.dev.iwarp && len(slices) > 1 {
		return c.readEach(ctx, src, slices)
	}
	return c.transfer(ctx, "read", uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_RDMA_READ}, &src, slices)
}

// FetchAdd adds to the 64-bit value in host order at the start of the peer's
// memory dst, and puts the value from before into the 8 bytes of old. The
// address must be a multiple of 8. When the peer serves no atomics, which count as
// reads, the error matches errors.ErrUnsupported, and nothing has happened.
func (c *Conn) FetchAdd(ctx context.Context, dst RemoteMemory, old Slice, add uint64) error {
	return c.atomic(ctx, uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, CompareAdd: add}, dst, old)
}

// CompareSwap replaces the 64-bit value at the start of the peer's memory dst
// by swap if it equals compare, and puts the value from before into the 8
// bytes of old. Its errors are those of FetchAdd.
func (c *Conn) CompareSwap(ctx context.Context, dst RemoteMemory, old Slice, compare, swap uint64) error {
	return c.atomic(ctx, uverbs.SendWR{Opcode: abi.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, CompareAdd: compare, Swap: swap}, dst, old)
}

func (c *Conn) atomic(ctx context.Context, wr uverbs.SendWR, dst RemoteMemory, old Slice) error {
	switch {
	case old.Len() != 8:
		return c.opError("atomic", fmt.Errorf("result of %d bytes, need 8: %w", old.Len(), syscall.EINVAL))
	case dst.Addr%8 != 0:
		return c.opError("atomic", fmt.Errorf("remote address %#x is not a multiple of 8: %w", dst.Addr, syscall.EINVAL))
	}
	if err := c.checkReads(); err != nil {
		return c.opError("atomic", err)
	}
	return c.transfer(ctx, "atomic", wr, &dst, []Slice{old})
}

// transfer completes a request with slices and remote memory and performs it.
func (c *Conn) transfer(ctx context.Context, op string, wr uverbs.SendWR, remote *RemoteMemory, slices []Slice) error {
	_, err := c.perform(ctx, func(i uint32, s *sendSlot) error {
		total, err := c.gather(s, slices)
		if err != nil {
			return err
		}
		if remote != nil {
			if total > remote.Len {
				return fmt.Errorf("%d bytes for remote memory of %d: %w", total, remote.Len, syscall.EMSGSIZE)
			}
			wr.RemoteAddr, wr.RKey = remote.Addr, remote.RKey
		}
		wr.ID, wr.Flags = c.sends.base|uint64(i), uverbs.SendSignaled
		s.wr[0] = wr
		return nil
	})
	return c.opErrorOrNil(op, err)
}

// Recv returns the next message. The caller releases it, also when the
// connection ends before. When the peer has
// ended the connection and nothing is left to deliver, the error matches
// ErrPeerClosed and io.EOF.
func (c *Conn) Recv(ctx context.Context) (*Message, error) {
	if err := c.recvs.takeTurn(ctx); err != nil {
		return nil, c.opError("receive", err)
	}
	defer c.recvs.endTurn()
	return c.receive(ctx)
}

// receive is Recv for the caller whose turn it is.
func (c *Conn) receive(ctx context.Context) (*Message, error) {
	r, err := c.nextReceived(ctx)
	if err != nil {
		return nil, c.opError("receive", err)
	}
	m, err := c.message(r)
	if err != nil {
		return nil, c.opError("receive", err)
	}
	return m, nil
}

// nextReceived takes what RecvCopy gave back, or what comes next.
func (c *Conn) nextReceived(ctx context.Context) (received, error) {
	if c.recvs.hasUnread {
		c.recvs.hasUnread = false
		return c.recvs.unread, nil
	}
	return await(ctx, c, c.recvs.ready)
}

// RecvCopy receives one message into p, which may be any Go memory, and
// releases it. When p is too short the error matches io.ErrShortBuffer, n is
// the length needed, and the message stays for the next receive. So does one with
// immediate data, which would be lost: the error matches [ErrImmediate], and Recv
// returns it.
func (c *Conn) RecvCopy(ctx context.Context, p []byte) (n int, err error) {
	if err := c.recvs.takeTurn(ctx); err != nil {
		return 0, c.opError("receive", err)
	}
	defer c.recvs.endTurn()
	r, err := c.nextReceived(ctx)
	if err != nil {
		return 0, c.opError("receive", err)
	}
	m, err := c.message(r)
	if err != nil {
		return 0, c.opError("receive", err)
	}
	if err := refuseCopy(m, len(p)); err != nil {
		c.recvs.unread, c.recvs.hasUnread = r, true
		_ = c.takeBack() // it is not lent, only shown
		return len(m.Data), c.opError("receive", err)
	}
	n = copy(p, m.Data)
	return n, m.Release()
}

// refuseCopy says why a message does not go into a buffer of n bytes.
func refuseCopy(m *Message, n int) error {
	switch {
	case m.HasImm:
		return ErrImmediate
	case len(m.Data) > n:
		return fmt.Errorf("message of %d bytes, buffer of %d: %w", len(m.Data), n, io.ErrShortBuffer)
	}
	return nil
}
