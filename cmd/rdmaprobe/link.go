package main

import (
	"context"
	"net"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// link is a connection as far as commands use it; listener and request are
// what it comes from on the passive side. Tests have them without a device.
type link interface {
	LocalAddr() net.Addr
	RemoteAddr() net.Addr
	Device() string
	Done() <-chan struct{}
	Close() error
	Transport() rping.Transport
	PeerData() []byte // private data of the handshake
	PathMTU() int     // bytes of data in a packet of the queue pair; 0 when not known
}

type listener interface {
	Addr() net.Addr
	Accept(ctx context.Context) (request, error)
	Close() error
}

type request interface {
	RemoteAddr() net.Addr
	PeerData() []byte
	Info() endInfo // of the own end
	Accept(ctx context.Context, opts *cm.AcceptOptions) (link, error)
	Reject(privateData []byte) error
}

func dial(ctx context.Context, d *cm.Dialer, target string) (link, error) {
	c, err := d.Dial(ctx, target)
	if err != nil {
		return nil, err
	}
	return cmLink{c}, nil
}

func listen(ctx context.Context, address string) (listener, error) {
	l, err := cm.Listen(ctx, address, &cm.ListenConfig{Config: rping.ConnConfig()})
	if err != nil {
		return nil, err
	}
	return cmListener{l}, nil
}

type cmLink struct{ *cm.Conn }

func (l cmLink) Transport() rping.Transport { return rping.Over(l.Conn) }
func (l cmLink) PeerData() []byte           { return l.PrivateData() }

func (l cmLink) PathMTU() int {
	attr, err := l.QP().Query()
	if err != nil {
		return 0
	}
	return attr.PathMTU.Bytes()
}

type cmListener struct{ *cm.Listener }

func (l cmListener) Accept(ctx context.Context) (request, error) {
	r, err := l.Listener.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return cmRequest{r}, nil
}

type cmRequest struct{ *cm.Request }

func (r cmRequest) PeerData() []byte { return r.PrivateData() }
func (r cmRequest) Info() endInfo    { return infoOf(r.ID()) }

func (r cmRequest) Accept(ctx context.Context, opts *cm.AcceptOptions) (link, error) {
	c, err := r.Request.Accept(ctx, opts)
	if err != nil {
		return nil, err
	}
	return cmLink{c}, nil
}
