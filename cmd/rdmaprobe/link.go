package main

import (
	"context"
	"errors"
	"io/fs"
	"net"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/uverbs"
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
}

type listener interface {
	Addr() net.Addr
	Accept(ctx context.Context) (request, error)
	Close() error
}

type request interface {
	RemoteAddr() net.Addr
	Accept(ctx context.Context, opts *cm.AcceptOptions) (link, error)
}

func dial(ctx context.Context, d *cm.Dialer, target string) (link, error) {
	c, err := loaded(func() (*cm.Conn, error) { return d.Dial(ctx, target) })
	if err != nil {
		return nil, err
	}
	return cmLink{c}, nil
}

func listen(ctx context.Context, address string) (listener, error) {
	l, err := loaded(func() (*cm.Listener, error) {
		return cm.Listen(ctx, address, &cm.ListenConfig{Config: rping.ConnConfig()})
	})
	if err != nil {
		return nil, err
	}
	return cmListener{l}, nil
}

// loaded does f again when the connection manager's device was missing and is
// there after all: looking for it through netlink makes the kernel load module
// rdma_ucm where it can.
func loaded[T any](f func() (T, error)) (T, error) {
	v, err := f()
	if errors.Is(err, fs.ErrNotExist) && uverbs.Diagnose().CM.Exists() {
		return f()
	}
	return v, err
}

type cmLink struct{ *cm.Conn }

func (l cmLink) Transport() rping.Transport { return rping.Over(l.Conn) }

type cmListener struct{ *cm.Listener }

func (l cmListener) Accept(ctx context.Context) (request, error) {
	r, err := l.Listener.Accept(ctx)
	if err != nil {
		return nil, err
	}
	return cmRequest{r}, nil
}

type cmRequest struct{ *cm.Request }

func (r cmRequest) Accept(ctx context.Context, opts *cm.AcceptOptions) (link, error) {
	c, err := r.Request.Accept(ctx, opts)
	if err != nil {
		return nil, err
	}
	return cmLink{c}, nil
}
