package uverbs

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// An AH is an address handle: where datagrams go. One handle serves any number
// of queue pairs of its protection domain and of requests. It must stay open
// until the requests that use it have completed. All methods are safe for
// concurrent use.
type AH struct {
	driver provider.AH // the first field; see SendWR.provider
	life   life
	pd     *PD
	attr   AHAttr
	handle uint32
}

// CreateAH creates an address handle (CREATE_AH). On RoCE it resolves the
// destination's Ethernet address, which may take a second, and DGID must be
// set.
//
// The error is an *[Error]. It matches syscall.EINVAL when the path cannot be,
// syscall.ENODATA when the port has no GID at SGIDIndex, and syscall.ETIMEDOUT,
// EHOSTUNREACH or ENETUNREACH when the destination cannot be reached;
// [ErrNoProvider] on a device without a data path in this module.
func (pd *PD) CreateAH(attr AHAttr) (*AH, error) {
	c := pd.c
	if c.drv == nil {
		return nil, &Error{Op: cmdCreateAH.name, Device: c.dev.Name, Err: c.noDrv}
	}
	attr.complete()
	ah := &AH{pd: pd, attr: attr}
	if err := ah.life.begin(c.dev.Name, "new AH", &pd.life); err != nil {
		return nil, err
	}
	if err := ah.create(); err != nil {
		ah.life.unregister()
		return nil, attr.explain(err)
	}
	return ah, nil
}

// create lets the kernel and the driver make the handle.
func (ah *AH) create() error {
	c := ah.pd.c
	setup, err := c.drv.SetupAH(ah.request())
	if err != nil {
		return c.fail(cmdCreateAH.name, ah.attr.String(), err)
	}
	w, err := newWrite(&cmdCreateAH, nil, setup.UHWOutLen)
	if err != nil {
		return c.fail(cmdCreateAH.name, "", err)
	}
	defer w.release()
	req := reqOf[abi.IBUverbsCreateAH](w)
	req.PDHandle, req.Attr = ah.pd.handle, ah.attr.abi()
	if err := c.write(w, ah.attr.String()); err != nil {
		return err
	}
	ah.handle = respOf[abi.IBUverbsCreateAHResp](w).AHHandle
	ah.life.settle(c.dev.Name, fmt.Sprintf("AH %d to %v", ah.handle, ah.attr))
	if ah.driver.Driver, err = setup.Done(w.uhwResp()); err != nil {
		_ = ah.destroy() // the failure that brought us here is reported
		return c.fail(cmdCreateAH.name, ah.life.name, err)
	}
	return nil
}

func (ah *AH) request() provider.AHRequest {
	a := &ah.attr
	return provider.AHRequest{
		DGID: a.DGID, SGIDIndex: a.SGIDIndex, Port: a.Port, FlowLabel: a.FlowLabel,
		HopLimit: a.HopLimit, TrafficClass: a.TrafficClass, DLID: a.DLID, PathBits: a.SrcPathBits,
		Source: func() (provider.AHSource, error) { return ah.pd.c.ahSource(a) },
	}
}

// ahSource finds out what the kernel knows of the own end of a path and does
// not tell.
func (c *Context) ahSource(a *AHAttr) (s provider.AHSource, err error) {
	e, err := c.QueryGID(int(a.Port), int(a.SGIDIndex))
	if err != nil {
		return s, err
	}
	s.GID = e.GID
	dst := a.DGID.Addr()
	if e.Netdev == "" || e.OtherNetNS || dst.IsMulticast() {
		return s, nil
	}
	s.MAC, err = macIfLocal(e.Netdev, e.GID.Addr(), dst)
	if err != nil {
		err = fmt.Errorf("route from %v to %v: %w", e.GID.Addr(), dst, err)
	}
	return s, err
}

// complete fills in what has a default.
func (a *AHAttr) complete() {
	a.Port = max(a.Port, 1)
	a.Global = a.Global || !a.DGID.IsZero()
	if a.Global && a.HopLimit == 0 {
		a.HopLimit = defaultHopLimit
	}
}

// abi converts a path to the form of CREATE_AH.
func (a AHAttr) abi() abi.IBUverbsAHAttr {
	k := abi.IBUverbsAHAttr{
		Dlid: a.DLID, SL: a.SL, SrcPathBits: a.SrcPathBits, StaticRate: a.StaticRate, PortNum: a.Port,
		GRH: abi.IBUverbsGlobalRoute{
			Dgid: a.DGID, FlowLabel: a.FlowLabel, SgidIndex: a.SGIDIndex, HopLimit: a.HopLimit, TrafficClass: a.TrafficClass,
		},
	}
	if a.Global {
		k.IsGlobal = 1
	}
	return k
}

// String returns the destination and the own end, such as
// "10.0.0.2 from port 1 GID 1".
func (a AHAttr) String() string {
	if a.Global {
		return fmt.Sprintf("%v from port %d GID %d", a.DGID.Addr(), a.Port, a.SGIDIndex)
	}
	return fmt.Sprintf("LID %#x from port %d", a.DLID, a.Port)
}

// explain adds the usual cause to a refused path.
func (a AHAttr) explain(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Hint != "" {
		return err
	}
	switch {
	case errors.Is(err, syscall.EINVAL) && !a.Global:
		e.Hint = "on RoCE a path needs DGID, the peer's GID, and SGIDIndex"
	case errors.Is(err, syscall.ENODATA):
		e.Hint = "the port has no GID of that index; see QueryGIDs"
	case errors.Is(err, syscall.EINVAL):
		e.Hint = "the device has no such port, the own GID does not go with DGID, or all MaxAH address handles of the device are taken"
	case errors.Is(err, syscall.ETIMEDOUT), errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		e.Hint = "no route, or nobody answers for the destination on the network of the own GID"
	}
	return err
}

// PD returns the handle's protection domain.
func (ah *AH) PD() *PD { return ah.pd }

// Attr returns the path.
func (ah *AH) Attr() AHAttr { return ah.attr }

// Handle returns the kernel's handle within its context.
func (ah *AH) Handle() uint32 { return ah.handle }

// String returns "AH", the kernel's handle and the path.
func (ah *AH) String() string { return ah.life.name }

// Close destroys the handle (AH_DESTROY, DESTROY_AH). It may be called more
// than once and from any goroutine.
func (ah *AH) Close() error { return ah.life.close(ah.destroy, nil) }

func (ah *AH) destroy() error {
	return ah.pd.c.destroyObject(&methodAHDestroy, uint16(abi.UVERBS_ATTR_DESTROY_AH_HANDLE),
		&cmdDestroyAH, ah.handle, ah.life.name)
}

var errOtherPD = fmt.Errorf("the address handle belongs to another protection domain: %w", errInvalid)

// check refuses a handle that the queue pair cannot use; it allocates nothing.
func (ah *AH) check(qp *QP) error {
	switch {
	case ah == nil:
		return nil
	case ah.life.isEnding():
		return ah.life.closed
	case !ah.pd.same(qp.pd):
		return errOtherPD
	}
	return nil
}

// AHAttrFromWC returns the path back to the sender of a datagram that was
// received on a port, numbered from 1. grh is the first [GRHSize] bytes of the
// receive memory. The answer goes from the GID that the datagram was sent to;
// when that was a multicast group, from one like the sender's. The sender's
// queue pair is wc.SrcQPN; its Q_Key must be known.
//
// The error matches syscall.EADDRNOTAVAIL when the port has no such GID (any
// more), or has it in a slot above 255, which no path can name; and syscall.EINVAL when there cannot be such a port.
func (c *Context) AHAttrFromWC(port int, wc *WC, grh []byte) (AHAttr, error) {
	const op = "AH from a completion"
	if port < 1 || port > math.MaxUint8 {
		return AHAttr{}, c.fail(op, fmt.Sprintf("port %d", port), errInvalid)
	}
	a := AHAttr{DLID: wc.SLID, SL: wc.SL, SrcPathBits: wc.DLIDPathBits, Port: uint8(port)}
	if wc.Flags&abi.IB_WC_GRH == 0 {
		return a, nil
	}
	h, err := ParseGRH(grh)
	if err != nil {
		return AHAttr{}, c.fail(op, "", err)
	}
	table, err := c.QueryGIDs(port)
	if err != nil {
		return AHAttr{}, err
	}
	own, ok := h.ownGID(table)
	if !ok {
		err := fmt.Errorf("no GID for %v: %w", netip.AddrFrom16(h.Dst).Unmap(), syscall.EADDRNOTAVAIL)
		return AHAttr{}, c.fail(op, fmt.Sprintf("port %d", port), err)
	}
	if a.SGIDIndex, err = own.PathIndex(); err != nil {
		return AHAttr{}, c.fail(op, fmt.Sprintf("port %d", port), err)
	}
	a.DGID, a.Global = h.Src, true
	a.FlowLabel, a.TrafficClass = h.FlowLabel, h.TrafficClass
	return a, nil
}

// CreateAHFromWC creates an address handle for the sender of a datagram;
// arguments and errors are those of [Context.AHAttrFromWC] and [PD.CreateAH].
func (pd *PD) CreateAHFromWC(port int, wc *WC, grh []byte) (*AH, error) {
	a, err := pd.c.AHAttrFromWC(port, wc, grh)
	if err != nil {
		return nil, err
	}
	return pd.CreateAH(a)
}
