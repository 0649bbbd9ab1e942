//go:build !linux

package uverbs

import (
	"errors"
	"net/netip"
)

func macIfLocal(string, netip.Addr, netip.Addr) ([6]byte, error) {
	return [6]byte{}, errors.ErrUnsupported
}
