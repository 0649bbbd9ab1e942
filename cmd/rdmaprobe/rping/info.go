package rping

import (
	"encoding/binary"
	"fmt"
)

// Sizes of the data of a ping in bytes, those of the C program: its buffer
// holds at least the longest head of a payload, and less than 64 KiB.
const (
	MinSize     = 26
	MaxSize     = 64<<10 - 1
	DefaultSize = 64
)

// DefaultPort is where the C server listens.
const DefaultPort = 7174

// InfoSize is the length of each message in either direction.
const InfoSize = 16

// An Info tells the peer where memory is and how long. On the wire its fields
// follow each other in network byte order.
type Info struct {
	Addr uint64
	RKey uint32
	Size uint32
}

// AppendBinary appends the InfoSize bytes of the wire form. It never fails.
func (i Info) AppendBinary(b []byte) ([]byte, error) {
	b = binary.BigEndian.AppendUint64(b, i.Addr)
	b = binary.BigEndian.AppendUint32(b, i.RKey)
	return binary.BigEndian.AppendUint32(b, i.Size), nil
}

// UnmarshalBinary reads the wire form. The error matches [ErrProtocol] when
// the length is not exactly InfoSize, or the memory is longer than MaxSize,
// empty, or reaches beyond the end of the address space.
func (i *Info) UnmarshalBinary(b []byte) error {
	if len(b) != InfoSize {
		return wrongLength(len(b))
	}
	v := Info{
		Addr: binary.BigEndian.Uint64(b),
		RKey: binary.BigEndian.Uint32(b[8:]),
		Size: binary.BigEndian.Uint32(b[12:]),
	}
	if v.Size == 0 || v.Size > MaxSize {
		return fmt.Errorf("%w: memory of %d bytes, want 1 to %d", ErrProtocol, v.Size, MaxSize)
	}
	if v.Addr+uint64(v.Size) < v.Addr {
		return fmt.Errorf("%w: %d bytes at %#x wrap around", ErrProtocol, v.Size, v.Addr)
	}
	*i = v
	return nil
}

func wrongLength(n int) error {
	return fmt.Errorf("%w: message of %d bytes, want %d", ErrProtocol, n, InfoSize)
}
