package uverbs

import (
	"errors"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// explainCQFlags marks a refused creation as one of flags that the device does
// not have, when nothing else explains it: soft-RoCE of 5.10 answers EINVAL.
func explainCQFlags(err error, flags abi.IBUverbsExCreateCQFlags) {
	var e *Error
	if flags != 0 && errors.As(err, &e) && e.Hint == "" && errors.Is(err, syscall.EINVAL) {
		e.Err = &unsupportedError{what: "completion queue with such flags", err: e.Err}
	}
}

func (cq *CQ) createKernel(cfg CQConfig, uhwIn, uhwOut []byte) error {
	switch {
	case !fits32(cfg.Entries, cfg.Vector):
		return cq.c.fail(methodCQCreate.name, cq.life.name, errInvalid)
	case cq.c.native():
		return cq.createNative(cfg, uhwIn, uhwOut)
	case cfg.Flags != 0:
		return cq.createExWrite(cfg, uhwIn, uhwOut)
	}
	return cq.createWrite(cfg, uhwIn, uhwOut)
}

func (cq *CQ) createNative(cfg CQConfig, uhwIn, uhwOut []byte) error {
	i, err := newIoctl(&methodCQCreate)
	if err != nil {
		return cq.c.fail(methodCQCreate.name, cq.life.name, err)
	}
	defer i.release()
	handle := i.result(uint16(abi.UVERBS_ATTR_CREATE_CQ_HANDLE))
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_CQ_CQE), uint32(cfg.Entries))
	i.u64(uint16(abi.UVERBS_ATTR_CREATE_CQ_USER_HANDLE), cq.key)
	if cfg.Channel != nil {
		i.fd(uint16(abi.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL), cfg.Channel.fd)
	}
	i.u32(uint16(abi.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR), uint32(cfg.Vector))
	i.events(uint16(abi.UVERBS_ATTR_CREATE_CQ_EVENT_FD), cq.c)
	if cfg.Flags != 0 {
		i.u32(uint16(abi.UVERBS_ATTR_CREATE_CQ_FLAGS), uint32(cfg.Flags))
	}
	entries := i.outU32(uint16(abi.UVERBS_ATTR_CREATE_CQ_RESP_CQE))
	i.uhwIn(uhwIn)
	out := i.uhwOut(len(uhwOut))
	if err := cq.c.ioctl(i, cq.life.name); err != nil {
		return err
	}
	cq.handle, cq.entries = uint32(handle.Data), int(*entries)
	copy(uhwOut, out)
	return nil
}

func (cq *CQ) createWrite(cfg CQConfig, uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdCreateCQ, uhwIn, len(uhwOut))
	if err != nil {
		return cq.c.fail(cmdCreateCQ.name, cq.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsCreateCQ](w)
	req.UserHandle, req.CQE, req.CompVector = cq.key, uint32(cfg.Entries), uint32(cfg.Vector)
	req.CompChannel = -1
	if cfg.Channel != nil {
		req.CompChannel = int32(cfg.Channel.fd)
	}
	if err := cq.c.write(w, cq.life.name); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsCreateCQResp](w)
	cq.handle, cq.entries = resp.CQHandle, int(resp.CQE)
	copy(uhwOut, w.uhwResp())
	return nil
}

// createExWrite is the form with flags.
func (cq *CQ) createExWrite(cfg CQConfig, uhwIn, uhwOut []byte) error {
	w, err := newWrite(&cmdExCreateCQ, uhwIn, len(uhwOut))
	if err != nil {
		return cq.c.fail(cmdExCreateCQ.name, cq.life.name, err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsExCreateCQ](w)
	req.UserHandle, req.CQE, req.CompVector = cq.key, uint32(cfg.Entries), uint32(cfg.Vector)
	req.CompChannel, req.Flags = -1, uint32(cfg.Flags)
	if cfg.Channel != nil {
		req.CompChannel = int32(cfg.Channel.fd)
	}
	if err := cq.c.write(w, cq.life.name); err != nil {
		return err
	}
	resp := respOf[abi.IBUverbsExCreateCQResp](w)
	cq.handle, cq.entries = resp.Base.CQHandle, int(resp.Base.CQE)
	copy(uhwOut, w.uhwResp())
	return nil
}
