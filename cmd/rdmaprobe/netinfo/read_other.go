//go:build !linux

package netinfo

import (
	"errors"
	"net/netip"
)

// List is for Linux.
func List() (Netdevs, error) { return nil, errors.ErrUnsupported }

// RouteTo is for Linux.
func RouteTo(netip.Addr) (Route, error) { return Route{}, errors.ErrUnsupported }

// NeighbourOf is for Linux.
func NeighbourOf(int, netip.Addr) (Neighbour, error) { return Neighbour{}, errors.ErrUnsupported }
