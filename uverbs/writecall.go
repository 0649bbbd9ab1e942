package uverbs

import (
	"fmt"
	"unsafe"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

const (
	cmdHdrSize   = int(unsafe.Sizeof(abi.IBUverbsCmdHdr{}))
	cmdExHdrSize = int(unsafe.Sizeof(abi.IBUverbsExCmdHdr{}))
)

// writeCall is one command of the older interface under construction, in
// off-heap memory. frame is what write(2) sends: headers, core struct, driver
// bytes; resp is where the answer goes: core struct, driver bytes. INVOKE_WRITE
// sends the same parts as attributes.
type writeCall struct {
	m     *writeCmd
	b     *offheap.Block
	frame []byte
	core  int // offset of the core struct in frame
	end   int // offset of what follows it and its tail: the driver bytes
	resp  []byte
}

// newWrite starts a call. The caller releases it.
func newWrite(m *writeCmd, uhwIn []byte, uhwOut int) (*writeCall, error) {
	b, err := offheap.Get()
	if err != nil {
		return nil, err
	}
	c := &writeCall{m: m, b: b}
	c.lay(0, uhwIn, uhwOut)
	return c, nil
}

// newWriteTail starts a call whose core struct is followed by a list of so many
// bytes.
func newWriteTail(m *writeCmd, tail int) (*writeCall, error) {
	b, err := offheap.Get()
	if err != nil {
		return nil, err
	}
	c := &writeCall{m: m, b: b}
	c.lay(tail, nil, 0)
	return c, nil
}

// lay lays out the parts.
func (c *writeCall) lay(tail int, uhwIn []byte, uhwOut int) {
	c.core = cmdHdrSize
	if c.m.ex {
		c.core += cmdExHdrSize
	}
	c.end = c.core + c.m.in + tail
	c.frame = c.b.AllocBytes(c.end + len(uhwIn))
	copy(c.frame[c.end:], uhwIn)
	c.resp = c.b.AllocBytes(c.m.out + uhwOut)
	c.fillHeader(len(uhwIn), uhwOut)
}

// tail is the list behind the core struct.
func (c *writeCall) tail() []byte { return c.frame[c.core+c.m.in : c.end] }

func (c *writeCall) release() { c.b.Release() }

// fillHeader writes the headers, and for a plain command the address of the
// answer, which is the first member of each core struct that has an answer.
func (c *writeCall) fillHeader(uhwIn, uhwOut int) {
	hdr := (*abi.IBUverbsCmdHdr)(unsafe.Pointer(unsafe.SliceData(c.frame)))
	hdr.Command = c.m.number()
	if !c.m.ex {
		hdr.InWords = words(len(c.frame), 4)
		hdr.OutWords = words(len(c.resp), 4)
		if len(c.resp) > 0 {
			*(*uint64)(unsafe.Pointer(&c.frame[c.core])) = offheap.AddrBytes(c.resp)
		}
		return
	}
	hdr.InWords = words(c.end-c.core, 8)
	hdr.OutWords = words(c.m.out, 8)
	ex := (*abi.IBUverbsExCmdHdr)(unsafe.Pointer(&c.frame[cmdHdrSize]))
	ex.Response = offheap.AddrBytes(c.resp)
	ex.ProviderInWords = words(uhwIn, 8)
	ex.ProviderOutWords = words(uhwOut, 8)
}

// number is the command number with the flag of extended commands.
func (m *writeCmd) number() uint32 {
	if m.ex {
		return m.num | abi.IB_USER_VERBS_CMD_FLAG_EXTENDED
	}
	return m.num
}

func words(n, word int) uint16 {
	if n%word != 0 {
		panic(fmt.Sprintf("uverbs: %d bytes are no multiple of %d", n, word))
	}
	return uint16(n / word)
}

// reqOf returns the core struct of the command.
func reqOf[T any](c *writeCall) *T {
	if size[T]() != c.m.in {
		panic("uverbs: wrong command struct for " + c.m.name)
	}
	return (*T)(unsafe.Pointer(&c.frame[c.core]))
}

// respOf returns the core struct of the answer.
func respOf[T any](c *writeCall) *T {
	if size[T]() != c.m.out {
		panic("uverbs: wrong answer struct for " + c.m.name)
	}
	return (*T)(unsafe.Pointer(&c.resp[0]))
}

// uhwResp returns the driver's bytes of the answer.
func (c *writeCall) uhwResp() []byte { return c.resp[c.m.out:] }

// invoke builds the INVOKE_WRITE call with the same content.
func (c *writeCall) invoke() (*ioctlCall, error) {
	i, err := newIoctl(&methodInvokeWrite)
	if err != nil {
		return nil, err
	}
	i.u64(uint16(abi.UVERBS_ATTR_WRITE_CMD), uint64(c.m.number()))
	i.in(uint16(abi.UVERBS_ATTR_CORE_IN), c.frame[c.core:c.end])
	i.out(uint16(abi.UVERBS_ATTR_CORE_OUT), c.resp[:c.m.out])
	i.in(abi.UVERBS_ATTR_UHW_IN, c.frame[c.end:])
	i.out(abi.UVERBS_ATTR_UHW_OUT, c.resp[c.m.out:])
	return i, nil
}
