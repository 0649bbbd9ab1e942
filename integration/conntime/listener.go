//go:build linux

package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"sync"

	"github.com/purerdma/rdma/cm"
)

// small is a connection like cmtime's: nothing is sent on it.
var small = &cm.Config{SendDepth: 1, RecvDepth: 1, RecvSize: 64, MaxSGE: 1, MaxInline: -1, LocalReads: 1, PeerReads: 1}

// serve accepts connections and closes each when its peer has, until ctx ends.
func serve(ctx context.Context, where netip.AddrPort) error {
	l, err := cm.ListenAddr(where, &cm.ListenConfig{Config: small, Backlog: 1 << 16})
	if err != nil {
		return err
	}
	fmt.Println("listening")
	var conns sync.WaitGroup
	for {
		req, err := l.Accept(ctx)
		if err != nil {
			break
		}
		conns.Go(func() {
			if err := hold(ctx, req); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "conntime listener:", err)
			}
		})
	}
	conns.Wait()
	return l.Close()
}

// hold keeps a connection until its peer ends it.
func hold(ctx context.Context, req *cm.Request) error {
	c, err := req.Accept(ctx, nil)
	if err != nil {
		return err
	}
	select {
	case <-c.Done():
	case <-ctx.Done():
	}
	return c.Close()
}
