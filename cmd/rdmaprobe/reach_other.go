//go:build !linux

package main

import (
	"context"
	"errors"
	"net/netip"
)

// reach is for Linux.
func reach(context.Context, netip.Addr, int) reachability {
	return reachability{err: errors.ErrUnsupported}
}
