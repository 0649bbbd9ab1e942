package cm

import (
	"encoding/binary"
	"fmt"
	"syscall"
)

// RemoteMemory describes memory of the peer. How it gets here is the
// program's business: a message, private data, or any other way. The peer is
// not trusted with it: operations check their bounds against Len, and the
// peer's device checks all of it.
type RemoteMemory struct {
	Addr   uint64 // address in the peer's process
	Len    uint64 // bytes
	RKey   uint32 // the peer's key for it
	Access Access // what the peer says it allows; RemoteRead and RemoteWrite travel
}

// RemoteSize is the size of a marshalled descriptor in bytes.
const RemoteSize = 21

// Usage bits of a marshalled descriptor. The format is that of librpma's
// rpma_mr_get_descriptor (address, length, key, usage; little-endian), so that
// C programs written with it can be the peer.
const (
	usageReadSource       = 0x01
	usageWriteDestination = 0x08
)

// AppendBinary appends the descriptor's RemoteSize bytes.
func (m RemoteMemory) AppendBinary(b []byte) ([]byte, error) {
	b = binary.LittleEndian.AppendUint64(b, m.Addr)
	b = binary.LittleEndian.AppendUint64(b, m.Len)
	b = binary.LittleEndian.AppendUint32(b, m.RKey)
	var usage byte
	if m.Access&RemoteRead != 0 {
		usage |= usageReadSource
	}
	if m.Access&RemoteWrite != 0 {
		usage |= usageWriteDestination
	}
	return append(b, usage), nil
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (m RemoteMemory) MarshalBinary() ([]byte, error) {
	return m.AppendBinary(make([]byte, 0, RemoteSize))
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. Longer input is
// accepted, because received private data is padded; what follows is ignored.
// Zeros alone are refused, whatever usage bits unknown here they have: that is
// what private data reads as when the peer sent none. So is what is shorter than
// RemoteSize, or whose end wraps around. The error matches syscall.EINVAL, and m
// stays as it was.
func (m *RemoteMemory) UnmarshalBinary(b []byte) error {
	if len(b) < RemoteSize {
		return fmt.Errorf("descriptor of remote memory: %d bytes, need %d: %w", len(b), RemoteSize, syscall.EINVAL)
	}
	d := RemoteMemory{
		Addr: binary.LittleEndian.Uint64(b),
		Len:  binary.LittleEndian.Uint64(b[8:]),
		RKey: binary.LittleEndian.Uint32(b[16:]),
	}
	if d.Addr+d.Len < d.Addr {
		return fmt.Errorf("descriptor of remote memory: %d bytes at %#x wrap around: %w", d.Len, d.Addr, syscall.EINVAL)
	}
	if b[20]&usageReadSource != 0 {
		d.Access |= RemoteRead
	}
	if b[20]&usageWriteDestination != 0 {
		d.Access |= RemoteWrite
	}
	if d == (RemoteMemory{}) {
		return fmt.Errorf("descriptor of remote memory: zeros: the peer sent none: %w", syscall.EINVAL)
	}
	*m = d
	return nil
}

// Slice returns n bytes from off of the peer's memory. It fails when they are
// not inside it.
func (m RemoteMemory) Slice(off, n uint64) (RemoteMemory, error) {
	if off > m.Len || n > m.Len-off {
		return RemoteMemory{}, fmt.Errorf("remote memory [%d:+%d] of %d bytes: %w", off, n, m.Len, syscall.ERANGE)
	}
	return RemoteMemory{Addr: m.Addr + off, Len: n, RKey: m.RKey, Access: m.Access}, nil
}
