package uverbs

import (
	"errors"
	"strconv"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

// DeviceAttr are the limits and abilities of a device. Raw has all of what the
// kernel answered.
type DeviceAttr struct {
	NodeGUID, SysImageGUID GUID
	VendorID, VendorPartID uint32
	HardwareVersion        uint32
	Ports                  int    // number of ports
	CapFlags               uint64 // IB_DEVICE_…, with the extended ones where the kernel tells them
	MaxMRSize              uint64 // bytes of one memory region
	PageSizes              uint64 // sizes of pages that regions may be made of, one bit each
	MaxQP, MaxCQ, MaxMR    int    // objects of each kind, of all processes together
	MaxPD, MaxSRQ, MaxMW   int
	MaxAH                  int
	MaxSRQWR, MaxSRQSGE    int             // requests of a shared receive queue, and their entries
	MaxQPWR, MaxCQE        int             // requests of a queue, completions of a CQ
	MaxSGE, MaxSGERead     int             // entries of a request, and of an RDMA read
	MaxQPRdAtomic          int             // reads and atomic operations a peer may have outstanding on one QP
	MaxQPInitRdAtomic      int             // and the QP itself
	Atomics                abi.IBAtomicCap // whether atomic operations are, and towards whom
	MaxPKeys               int             // entries of a port's P_Key table
	MaxMulticastGroups     int

	// OnDemand and ImplicitOnDemand tell whether AccessOnDemand and
	// RegMRImplicit are there; Raw.OdpCaps has for which requests.
	OnDemand, ImplicitOnDemand bool

	// ClockKHz is the frequency of the clock of WC.Timestamp, and
	// TimestampMask its bits; 0 where there is none.
	ClockKHz, TimestampMask uint64

	MaxWQ               int           // receive work queues
	MaxWQTables         int           // their tables
	MaxWQTableSize      int           // and queues in one
	MaxModerationCount  int           // completions of CQ.Moderate
	MaxModerationPeriod time.Duration // and its period
	MaxDM               uint64        // bytes of device memory

	Raw            abi.IBUverbsExQueryDeviceResp
	ExtendedAnswer bool // Raw has more than Raw.Base
}

// QueryDevice asks for limits and abilities (QUERY_DEVICE in its extended form,
// or the plain one where a driver lacks that). The error is an *[Error].
func (c *Context) QueryDevice() (*DeviceAttr, error) {
	if err := c.life.enter(); err != nil {
		return nil, err
	}
	defer c.life.leave()
	raw, extended, err := c.queryDevice()
	if err != nil {
		return nil, err
	}
	b := &raw.Base
	a := &DeviceAttr{
		NodeGUID: guidFromWire(b.NodeGUID), SysImageGUID: guidFromWire(b.SysImageGUID),
		VendorID: b.VendorID, VendorPartID: b.VendorPartID, HardwareVersion: b.HwVer,
		Ports: int(b.PhysPortCnt), CapFlags: uint64(b.DeviceCapFlags), MaxMRSize: b.MaxMRSize,
		PageSizes: b.PageSizeCap, MaxQP: int(b.MaxQP), MaxCQ: int(b.MaxCQ), MaxMR: int(b.MaxMR),
		MaxPD: int(b.MaxPD), MaxSRQ: int(b.MaxSRQ), MaxMW: int(b.MaxMW), MaxAH: int(b.MaxAH),
		MaxSRQWR: int(b.MaxSRQWR), MaxSRQSGE: int(b.MaxSRQSGE),
		MaxQPWR: int(b.MaxQPWR), MaxCQE: int(b.MaxCQE), MaxSGE: int(b.MaxSGE),
		MaxSGERead: int(b.MaxSGERd), MaxQPRdAtomic: int(b.MaxQPRdAtom),
		MaxQPInitRdAtomic: int(b.MaxQPInitRdAtom), Atomics: abi.IBAtomicCap(b.AtomicCap),
		MaxPKeys: int(b.MaxPkeys), MaxMulticastGroups: int(b.MaxMcastGrp),
		Raw: raw, ExtendedAnswer: extended,
	}
	if extended {
		a.extend(&raw)
	}
	return a, nil
}

func (c *Context) queryDevice() (raw abi.IBUverbsExQueryDeviceResp, extended bool, err error) {
	w, err := newWrite(&cmdExQueryDevice, nil, 0)
	if err != nil {
		return raw, false, c.fail(cmdExQueryDevice.name, "", err)
	}
	err = c.write(w, "")
	raw = *respOf[abi.IBUverbsExQueryDeviceResp](w)
	w.release()
	if err == nil {
		return raw, true, nil
	}
	if !errors.Is(err, errors.ErrUnsupported) {
		return raw, false, err
	}
	w, err = newWrite(&cmdQueryDevice, nil, 0)
	if err != nil {
		return raw, false, c.fail(cmdQueryDevice.name, "", err)
	}
	defer w.release()
	if err := c.write(w, ""); err != nil {
		return raw, false, err
	}
	return abi.IBUverbsExQueryDeviceResp{Base: *respOf[abi.IBUverbsQueryDeviceResp](w)}, false, nil
}

// guidFromWire takes a GUID that lies in memory in network byte order.
func guidFromWire(v uint64) GUID {
	return GUIDFromBytes([8]byte(offheap.BytesOf(&v)))
}

// PortAttr is the state of a port. Raw has all of what the kernel answered.
type PortAttr struct {
	State          PortState
	Phys           PhysState
	MaxMTU         abi.IBMTU // what the port could have; an IBMTU is a code, see its Bytes
	ActiveMTU      abi.IBMTU // the largest payload of a packet
	LinkLayer      LinkLayer
	GIDTableLen    int    // slots, used or not
	PKeyTableLen   int    // entries
	MaxMessageSize uint32 // bytes
	LID, SMLID     uint16 // InfiniBand only
	LMC            uint8  // low bits of the LID that do not count, InfiniBand only
	GRHRequired    bool   // each path needs a GID: RoCE
	ActiveWidth    abi.IBPortWidth
	ActiveSpeed    abi.IBPortSpeed // of one lane
	CapFlags       abi.IBUverbsQueryPortCapFlags
	CapFlags2      uint16 // more of them, InfiniBand only
	BadPKeys       uint32 // packets dropped for their P_Key
	QKeyViolations uint32 // and for their Q_Key
	MaxVLs, SMSL   uint8  // InfiniBand only
	Raw            abi.IBUverbsQueryPortRespEx
}

// QueryPort asks for the state of a port, numbered from 1 (QUERY_PORT). The
// error is an *[Error], with syscall.EINVAL when there is no such port.
func (c *Context) QueryPort(port int) (*PortAttr, error) {
	if err := c.life.enter(); err != nil {
		return nil, err
	}
	defer c.life.leave()
	raw, err := c.queryPort(port)
	if err != nil {
		return nil, err
	}
	l := &raw.LegacyResp
	a := &PortAttr{
		State: PortState(l.State), Phys: PhysState(l.PhysState), MaxMTU: abi.IBMTU(l.MaxMTU),
		ActiveMTU: abi.IBMTU(l.ActiveMTU), GIDTableLen: int(l.GIDTblLen),
		PKeyTableLen: int(l.PKeyTblLen), MaxMessageSize: l.MaxMsgSz, LID: l.LID, SMLID: l.SMLID,
		LMC: l.LMC, GRHRequired: l.Flags&uint8(abi.IB_UVERBS_QPF_GRH_REQUIRED) != 0, Raw: raw,
	}
	a.extend(&raw)
	switch abi.RDMALinkLayer(l.LinkLayer) {
	case abi.IB_LINK_LAYER_ETHERNET:
		a.LinkLayer = LinkEthernet
	case abi.IB_LINK_LAYER_INFINIBAND:
		a.LinkLayer = LinkInfiniBand
	}
	return a, nil
}

func (c *Context) queryPort(port int) (raw abi.IBUverbsQueryPortRespEx, err error) {
	object := "port " + strconv.Itoa(port)
	if port < 1 || port > 255 {
		return raw, c.fail(methodQueryPort.name, object, syscall.EINVAL)
	}
	if c.native() {
		i, err := newIoctl(&methodQueryPort)
		if err != nil {
			return raw, c.fail(methodQueryPort.name, object, err)
		}
		defer i.release()
		i.u64(uint16(abi.UVERBS_ATTR_QUERY_PORT_PORT_NUM), uint64(port))
		resp := offheap.Alloc[abi.IBUverbsQueryPortRespEx](i.b)
		i.out(uint16(abi.UVERBS_ATTR_QUERY_PORT_RESP), offheap.BytesOf(resp))
		if err := c.ioctl(i, object); err != nil {
			return raw, err
		}
		return *resp, nil
	}
	w, err := newWrite(&cmdQueryPort, nil, 0)
	if err != nil {
		return raw, c.fail(cmdQueryPort.name, object, err)
	}
	defer w.release()
	reqOf[abi.IBUverbsQueryPort](w).PortNum = uint8(port)
	if err := c.write(w, object); err != nil {
		return raw, err
	}
	raw.LegacyResp = *respOf[abi.IBUverbsQueryPortResp](w)
	return raw, nil
}

// machine is where the device was found; one that a caller made by hand is on
// this one.
func (d *Device) machine() *host {
	if d.host != nil {
		return d.host
	}
	return realHost()
}
