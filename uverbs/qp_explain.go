package uverbs

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// What the kernel does not say about a refused change of a queue pair.

// explainModify adds to a refused change what to look at.
func (qp *QP) explainModify(err error, req *abi.IBUverbsModifyQP) error {
	var e *Error
	if !errors.As(err, &e) || e.Hint != "" {
		return err
	}
	if abi.IBQPAttrMask(req.AttrMask)&abi.IB_QP_AV != 0 {
		if e.Hint = pathHint(err, req); e.Hint != "" {
			return err
		}
	}
	if errors.Is(err, syscall.EINVAL) {
		return qp.explainInvalid(err, e, req)
	}
	return err
}

// pathHint explains the errnos of a path that cannot be taken: ib_resolve_eth_dmac asks
// for the peer's Ethernet address, rdma_fill_sgid_attr looks up the own GID. The former
// says ETIMEDOUT also where there is no route (seen on 5.10 and 7.3).
func pathHint(err error, req *abi.IBUverbsModifyQP) string {
	peer := GID(req.Dest.Dgid).Addr()
	own := fmt.Sprintf("slot %d of the GID table of port %d", req.Dest.SgidIndex, req.Dest.PortNum)
	switch {
	case errors.Is(err, syscall.ETIMEDOUT):
		return fmt.Sprintf("no neighbour answered for %v, or there is no route to it: host down, wrong address, or no ARP/ND on the link of %s", peer, own)
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.EHOSTUNREACH):
		return fmt.Sprintf("no route to %v from the interface of %s", peer, own)
	case errors.Is(err, syscall.ENODATA), errors.Is(err, syscall.ENOENT):
		return own + " is empty; see QueryGIDs"
	}
	return ""
}

// explainInvalid tells the state that the queue pair is in, and the first limit that the
// attributes exceed.
func (qp *QP) explainInvalid(err error, e *Error, req *abi.IBUverbsModifyQP) error {
	now, queryErr := qp.query()
	if queryErr != nil {
		return err // the first failure is the one to tell
	}
	state := fmt.Sprintf("the queue pair is in state %v", now.State)
	e.Hint = state
	return qp.c.withLimits(err, func(d *abi.IBUverbsQueryDeviceResp) string {
		mask, limits := abi.IBQPAttrMask(req.AttrMask), []limit(nil)
		if mask&abi.IB_QP_MAX_QP_RD_ATOMIC != 0 {
			limits = append(limits, limit{"MaxRdAtomic", int(req.MaxRdAtomic), d.MaxQPInitRdAtom, "max_qp_init_rd_atom"})
		}
		if mask&abi.IB_QP_MAX_DEST_RD_ATOMIC != 0 {
			limits = append(limits, limit{"MaxDestRdAtomic", int(req.MaxDestRdAtomic), d.MaxQPRdAtom, "max_qp_rd_atom"})
		}
		if s := firstExceeded(limits...); s != "" {
			return state + "; " + s
		}
		return ""
	})
}

// checkMTU refuses a path MTU above the port's, which soft-RoCE takes (rxe_qp_chk_attr)
// and whose packets then get lost without a word. 0 becomes 1024 bytes, or less where
// the port has less.
func (qp *QP) checkMTU(cfg *RTRConfig) error {
	if qp.cfg.Type == abi.IB_UVERBS_QPT_UD || qp.cfg.Type == abi.IB_UVERBS_QPT_RAW_PACKET {
		return nil
	}
	port := int(cfg.AH.Port)
	if port == 0 {
		port = int(max(qp.port.Load(), 1))
	}
	p, err := qp.c.QueryPort(port)
	switch {
	case err != nil: // the change will say what is wrong with the port
		cfg.MTU = max(cfg.MTU, abi.IB_MTU_1024)
	case cfg.MTU == 0:
		cfg.MTU = min(abi.IB_MTU_1024, p.ActiveMTU)
	case cfg.MTU > p.ActiveMTU && cfg.MTU <= abi.IB_MTU_4096 && p.ActiveMTU != 0:
		return qp.c.fail(cmdModifyQP.name, qp.life.name, invalid("MTU is %d bytes, port %d carries %d: raise the MTU of its interface, or ask for less",
			128<<cfg.MTU, port, 128<<p.ActiveMTU))
	}
	if cfg.MTU == 0 { // a port that tells none
		cfg.MTU = abi.IB_MTU_1024
	}
	return nil
}

// explainPost names the state of a queue pair whose doorbell the kernel refused: soft-RoCE
// says EINVAL before RTS.
func (qp *QP) explainPost(err error) error {
	if err == nil {
		return nil // without what errors.As allocates
	}
	var e *Error
	if !errors.As(err, &e) || e.Hint != "" || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTCONN) {
		return err
	}
	if now, queryErr := qp.Query(); queryErr == nil && now.State != abi.IB_QPS_RTS {
		e.Object, e.Hint = qp.life.name, fmt.Sprintf("the queue pair is in state %v: it sends from RTS on, see ToRTS", now.State)
	}
	return err
}

// explainInline finds out whether the inline data is what a device refuses, and how much
// it takes: nothing tells that number, so it is found by trying.
func (pd *PD) explainInline(err error, cfg QPConfig) error {
	var e *Error
	if !errors.As(err, &e) || e.Hint != "" || cfg.Cap.MaxInline == 0 || !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOMEM) {
		return err
	}
	takes := func(n int) bool {
		cfg.Cap.MaxInline = n
		qp, err := pd.createQP(cfg)
		if err != nil {
			return false
		}
		return qp.Close() == nil
	}
	asked := cfg.Cap.MaxInline
	if !takes(0) {
		return err
	}
	most, refused := 0, asked
	for refused-most > 1 {
		if n := most + (refused-most)/2; takes(n) {
			most = n
		} else {
			refused = n
		}
	}
	e.Hint = fmt.Sprintf("Cap.MaxInline is %d, the device allows %d", asked, most)
	return err
}
