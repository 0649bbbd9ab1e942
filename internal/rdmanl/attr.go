package rdmanl

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrMalformed is matched by errors about messages whose lengths do not add up.
var ErrMalformed = errors.New("malformed netlink message")

const (
	attrHeaderLen = 4
	// The two top bits of an attribute type are flags (NLA_F_NESTED,
	// NLA_F_NET_BYTEORDER), not part of the number.
	attrTypeMask = 0x3fff
)

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

func align4(n int) int { return (n + 3) &^ 3 }

// attr is one attribute of a message: its number without flag bits, and its payload.
type attr struct {
	typ  uint16
	data []byte
}

func putU32(typ uint16, v uint32) attr {
	return attr{typ, binary.NativeEndian.AppendUint32(nil, v)}
}

// putString ends the string with a NUL byte: the kernel's policy for names is
// NLA_NUL_STRING, which refuses strings without one.
func putString(typ uint16, s string) attr {
	return attr{typ, append([]byte(s), 0)}
}

// forEachAttr calls f for each attribute in b. Bytes after the last attribute that
// are too few for a header are ignored, as nla_for_each_attr in the kernel does.
func forEachAttr(b []byte, f func(a attr) error) error {
	for len(b) >= attrHeaderLen {
		n := int(binary.NativeEndian.Uint16(b))
		if n < attrHeaderLen || n > len(b) {
			return malformed("attribute of %d bytes in %d", n, len(b))
		}
		a := attr{binary.NativeEndian.Uint16(b[2:]) & attrTypeMask, b[attrHeaderLen:n]}
		if err := f(a); err != nil {
			return err
		}
		b = b[min(align4(n), len(b)):]
	}
	return nil
}

// u8, u32 and u64 accept longer payloads, so that a field which grows in a later
// kernel stays readable.

func (a attr) u8(p *uint8) error {
	if len(a.data) < 1 {
		return malformed("attribute %d: %d bytes, want 1", a.typ, len(a.data))
	}
	*p = a.data[0]
	return nil
}

func (a attr) u32(p *uint32) error {
	if len(a.data) < 4 {
		return malformed("attribute %d: %d bytes, want 4", a.typ, len(a.data))
	}
	*p = binary.NativeEndian.Uint32(a.data)
	return nil
}

func (a attr) u64(p *uint64) error {
	if len(a.data) < 8 {
		return malformed("attribute %d: %d bytes, want 8", a.typ, len(a.data))
	}
	*p = binary.NativeEndian.Uint64(a.data)
	return nil
}

func (a attr) str(p *string) error {
	*p = cString(a.data)
	return nil
}

// cString returns b up to its first NUL byte.
func cString(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
