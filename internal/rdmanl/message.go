package rdmanl

import (
	"encoding/binary"
	"syscall"
)

// Numbers of linux/netlink.h, repeated here so that decoding and its tests also
// build where package unix has no netlink.
const (
	nlmsgHeaderLen  = 16
	nlmsgError      = 2
	nlmsgDone       = 3
	nlmsgOverrun    = 4
	flagDumpIntr    = 0x10
	flagCapped      = 0x100
	flagAckTLVs     = 0x200
	extackAttrMsg   = 1
	nlmsgErrorFixed = 4 // the errno in front of the echoed request
)

// message is one netlink message; data is what follows its header.
type message struct {
	typ, flags uint16
	seq        uint32
	data       []byte
}

// splitMessages cuts one datagram into messages.
func splitMessages(b []byte) ([]message, error) {
	var out []message
	for len(b) >= nlmsgHeaderLen {
		n := int64(binary.NativeEndian.Uint32(b))
		if n < nlmsgHeaderLen || n > int64(len(b)) {
			return nil, malformed("message of %d bytes in %d", n, len(b))
		}
		out = append(out, message{
			typ:   binary.NativeEndian.Uint16(b[4:]),
			flags: binary.NativeEndian.Uint16(b[6:]),
			seq:   binary.NativeEndian.Uint32(b[8:]),
			data:  b[nlmsgHeaderLen:n],
		})
		b = b[min(align4(int(n)), len(b)):]
	}
	if len(b) > 0 {
		return nil, malformed("%d bytes after the last message", len(b))
	}
	return out, nil
}

// status returns the errno (0 for success) and the kernel's explanation, if any, of a
// message of type NLMSG_ERROR or NLMSG_DONE.
func (m message) status() (syscall.Errno, string, error) {
	if len(m.data) < nlmsgErrorFixed {
		// NLMSG_DONE may come without a payload; an error may not.
		if m.typ == nlmsgDone && len(m.data) == 0 {
			return 0, "", nil
		}
		return 0, "", malformed("status of %d bytes", len(m.data))
	}
	code := int32(binary.NativeEndian.Uint32(m.data))
	if code > 0 {
		return 0, "", malformed("status %d is positive", code)
	}
	return syscall.Errno(-int64(code)), m.explanation(), nil
}

// explanation finds the extended-ack text. It follows the errno and, for NLMSG_ERROR,
// the echoed request: only its header when the kernel set NLM_F_CAPPED.
func (m message) explanation() string {
	if m.flags&flagAckTLVs == 0 {
		return ""
	}
	rest := m.data[nlmsgErrorFixed:]
	if m.typ == nlmsgError {
		if len(rest) < nlmsgHeaderLen {
			return ""
		}
		skip := int64(nlmsgHeaderLen)
		if m.flags&flagCapped == 0 {
			skip = (int64(binary.NativeEndian.Uint32(rest)) + 3) &^ 3
		}
		if skip < nlmsgHeaderLen || skip > int64(len(rest)) {
			return ""
		}
		rest = rest[skip:]
	}
	var text string
	// The text is a courtesy: an odd one must not hide the errno.
	_ = forEachAttr(rest, func(a attr) error {
		if a.typ == extackAttrMsg {
			text = cString(a.data)
		}
		return nil
	})
	return text
}
