package rping

import (
	"context"
	"errors"
	"io"

	"github.com/purerdma/rdma/cm"
)

// ConnConfig returns the queues that a connection for this protocol needs.
// Received messages longer than RecvSize break the connection; room beyond
// InfoSize lets the error name a wrong length instead.
func ConnConfig() *cm.Config {
	return &cm.Config{SendDepth: 4, RecvDepth: 4, RecvSize: 4 * InfoSize, MaxSGE: 1}
}

// Over makes a Transport of a connection, which stays the caller's.
func Over(c *cm.Conn) Transport { return conn{c} }

type conn struct{ c *cm.Conn }

func (t conn) Send(ctx context.Context, p []byte) error { return t.c.SendCopy(ctx, p) }

func (t conn) Recv(ctx context.Context, p []byte) (int, error) {
	n, err := t.c.RecvCopy(ctx, p)
	if errors.Is(err, io.ErrShortBuffer) {
		return n, nil // the length is the news
	}
	return n, err
}

func (t conn) Alloc(n int, rights Rights) (Memory, error) {
	r, err := t.c.Alloc(n, rights.access())
	if err != nil {
		return nil, err
	}
	return region{r}, nil
}

func (r Rights) access() cm.Access {
	switch r {
	case PeerReads:
		return cm.RemoteRead
	case PeerWrites:
		return cm.RemoteWrite
	}
	return 0
}

func (t conn) Read(ctx context.Context, dst Memory, src Info) error {
	return t.c.Read(ctx, src.remote(), dst.(region).Slice(0, int(src.Size)))
}

func (t conn) Write(ctx context.Context, dst Info, src Memory, n int) error {
	return t.c.Write(ctx, dst.remote(), src.(region).Slice(0, n))
}

func (i Info) remote() cm.RemoteMemory {
	return cm.RemoteMemory{Addr: i.Addr, Len: uint64(i.Size), RKey: i.RKey, Access: cm.RemoteRead | cm.RemoteWrite}
}

// region is a cm.Region as Memory.
type region struct{ *cm.Region }

func (r region) Info() Info {
	m := r.Remote()
	return Info{Addr: m.Addr, RKey: m.RKey, Size: uint32(m.Len)}
}
