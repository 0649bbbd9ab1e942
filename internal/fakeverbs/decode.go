package fakeverbs

import (
	"syscall"
	"unsafe"

	"github.com/purerdma/rdma/abi"
)

// request is a decoded command of either style.
type request struct {
	f       *file
	name    string
	attrs   []abi.IBUverbsAttr // native methods only
	in, out []byte             // core structs of write commands
	uhwIn   []byte
	uhwOut  []byte
}

// Ring is Write.
func (f *file) Ring(p []byte) (int, error) { return f.Write(p) }

// Write decodes one write(2) (ib_uverbs_write).
func (f *file) Write(p []byte) (int, error) {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	if f.closed {
		return 0, syscall.EBADF
	}
	if f.k.RefuseWrite != 0 {
		return 0, f.k.RefuseWrite
	}
	if len(p) < 8 {
		return 0, syscall.EINVAL
	}
	hdr := (*abi.IBUverbsCmdHdr)(unsafe.Pointer(&p[0]))
	c := writeCommands[hdr.Command]
	if c == nil {
		return 0, syscall.EOPNOTSUPP
	}
	if err := f.k.enter(c.name); err != nil {
		return 0, err
	}
	if f.k.gone {
		return 0, syscall.EIO
	}
	r := &f.k.scratch
	*r = request{f: f, name: c.name}
	if err := r.splitWrite(c, hdr, p); err != nil {
		return 0, err
	}
	if err := c.run(f.k, r); err != nil {
		return 0, err
	}
	return len(p), nil
}

// splitWrite finds the parts of a write command and checks their sizes as
// verify_hdr does.
func (r *request) splitWrite(c *writeCommand, hdr *abi.IBUverbsCmdHdr, p []byte) error {
	if hdr.Command&abi.IB_USER_VERBS_CMD_FLAG_EXTENDED == 0 {
		if int(hdr.InWords)*4 != len(p) {
			return syscall.EINVAL
		}
		if len(p) < 8+c.in || int(hdr.OutWords)*4 < c.out {
			return syscall.ENOSPC
		}
		r.in, r.uhwIn = p[8:8+c.in], p[8+c.in:]
		if c.out > 0 {
			resp := at(*(*uint64)(unsafe.Pointer(&r.in[0])), int(hdr.OutWords)*4)
			r.out, r.uhwOut = resp[:c.out], resp[c.out:]
		}
		return nil
	}
	ex := (*abi.IBUverbsExCmdHdr)(unsafe.Pointer(&p[8]))
	in, out := int(hdr.InWords)*8, int(hdr.OutWords)*8
	if in+int(ex.ProviderInWords)*8 != len(p)-24 || ex.CmdHdrReserved != 0 {
		return syscall.EINVAL
	}
	if in < c.in || out < c.out {
		return syscall.ENOSPC
	}
	resp := at(ex.Response, out+int(ex.ProviderOutWords)*8)
	clear(resp)
	r.in, r.out, r.uhwOut = p[24:24+in], resp[:out], resp[out:]
	return nil
}

// eventFD is the attribute of a method that names where events go.
var eventFD = map[string]uint16{"CQ_CREATE": 7, "QP_CREATE": 12, "SRQ_CREATE": 10, "WQ_CREATE": 5}

// Ioctl decodes one RDMA_VERBS_IOCTL (ib_uverbs_ioctl).
func (f *file) Ioctl(req uint, arg unsafe.Pointer) error {
	f.k.mu.Lock()
	defer f.k.mu.Unlock()
	if f.closed {
		return syscall.EBADF
	}
	if f.k.NoIoctl || req != abi.RDMA_VERBS_IOCTL {
		return syscall.ENOTTY
	}
	hdr := (*abi.IBUverbsIoctlHdr)(arg)
	if int(hdr.Length) != 24+16*int(hdr.NumAttrs) || hdr.DriverID != uint32(abi.RDMA_DRIVER_RXE) {
		return syscall.EINVAL
	}
	m := nativeMethods[methodKey{hdr.ObjectID, hdr.MethodID}]
	if m == nil || hdr.Reserved1 != 0 || hdr.Reserved2 != 0 {
		return syscall.EPROTONOSUPPORT
	}
	r := &f.k.scratch
	*r = request{f: f, name: m.name}
	r.attrs = unsafe.Slice((*abi.IBUverbsAttr)(unsafe.Add(arg, 24)), int(hdr.NumAttrs))
	if m.name == "INVOKE_WRITE" {
		return f.invokeWrite(r, m)
	}
	if err := f.k.enter(m.name); err != nil {
		return err
	}
	if f.k.gone {
		return syscall.EIO
	}
	if err := r.check(m); err != nil {
		return err
	}
	if id, ok := eventFD[m.name]; ok {
		if a := r.attr(id); a != nil && f.k.fileOf(int(*a.DataS64()), asyncFile) == nil {
			return syscall.EBADF
		}
	}
	r.uhwOut = r.output(abi.UVERBS_ATTR_UHW_OUT)
	if err := m.run(f.k, r); err != nil {
		return err
	}
	r.scramble(r.uhwOut)
	return nil
}

func (f *file) invokeWrite(r *request, m *nativeMethod) error {
	if err := r.check(m); err != nil {
		return err
	}
	c := writeCommands[uint32(r.u64(uint16(abi.UVERBS_ATTR_WRITE_CMD)))]
	if c == nil {
		return syscall.EOPNOTSUPP
	}
	if err := f.k.enter(c.name); err != nil {
		return err
	}
	if f.k.gone {
		return syscall.EIO
	}
	r.name = c.name
	r.in = r.input(uint16(abi.UVERBS_ATTR_CORE_IN))
	r.out = r.output(uint16(abi.UVERBS_ATTR_CORE_OUT))
	r.uhwIn = r.input(abi.UVERBS_ATTR_UHW_IN)
	r.uhwOut = r.output(abi.UVERBS_ATTR_UHW_OUT)
	if len(r.in) < c.in || len(r.out) < c.out {
		return syscall.ENOSPC
	}
	return c.run(f.k, r)
}

// check verifies attributes as uverbs_process_attr does.
func (r *request) check(m *nativeMethod) error {
	for i := range r.attrs {
		a := &r.attrs[i]
		s, known := m.attrs[a.AttrID]
		if !known {
			return syscall.EPROTONOSUPPORT
		}
		if a.AttrData != 0 && !s.choice || a.Flags != abi.UVERBS_ATTR_F_MANDATORY {
			return syscall.EINVAL
		}
		if s.handle && a.Len != 0 || !s.handle && int(a.Len) < s.min || s.exact && int(a.Len) != s.min {
			return syscall.EINVAL
		}
		for j := range i {
			if r.attrs[j].AttrID == a.AttrID {
				return syscall.EINVAL
			}
		}
	}
	for id, s := range m.attrs {
		if s.mandatory && r.attr(id) == nil {
			return syscall.EINVAL
		}
	}
	return nil
}

func (r *request) attr(id uint16) *abi.IBUverbsAttr {
	for i := range r.attrs {
		if r.attrs[i].AttrID == id {
			return &r.attrs[i]
		}
	}
	return nil
}

func (r *request) input(id uint16) []byte {
	a := r.attr(id)
	switch {
	case a == nil:
		return nil
	case a.Len <= 8:
		return bytesOf(&a.Data)[:a.Len]
	}
	return at(a.Data, int(a.Len))
}

func (r *request) output(id uint16) []byte {
	a := r.attr(id)
	if a == nil {
		return nil
	}
	return at(a.Data, int(a.Len))
}

func (r *request) u64(id uint16) uint64 {
	if a := r.attr(id); a != nil {
		return a.Data
	}
	return 0
}

func (r *request) u32(id uint16) uint32 {
	if a := r.attr(id); a != nil {
		return *(*uint32)(unsafe.Pointer(&a.Data))
	}
	return 0
}

// put writes a value to an output attribute, as much as fits.
func put[T any](r *request, id uint16, v T) {
	out := r.output(id)
	copy(out, bytesOf(&v))
	r.scramble(out)
}

// scramble lets a test change what is about to be answered.
func (r *request) scramble(out []byte) {
	if r.f.k.Scramble != nil {
		r.f.k.Scramble(out)
	}
}

// as views the core struct of a write command; answer writes the answer.
func as[T any](r *request) *T { return (*T)(unsafe.Pointer(&r.in[0])) }

func answer[T any](r *request, v T) {
	copy(r.out, bytesOf(&v))
	r.scramble(r.out)
	r.scramble(r.uhwOut)
}
