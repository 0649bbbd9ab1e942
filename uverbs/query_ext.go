package uverbs

import (
	"errors"
	"strconv"
	"syscall"
	"time"

	"github.com/purerdma/rdma/abi"
)

// extend fills in what the extended answer of QUERY_DEVICE tells. Older kernels
// answer less and leave the rest zero.
func (a *DeviceAttr) extend(raw *abi.IBUverbsExQueryDeviceResp) {
	a.CapFlags |= raw.DeviceCapFlagsEx
	a.OnDemand = raw.OdpCaps.GeneralCaps&uint64(abi.IB_UVERBS_ODP_SUPPORT) != 0
	a.ImplicitOnDemand = raw.OdpCaps.GeneralCaps&uint64(abi.IB_UVERBS_ODP_SUPPORT_IMPLICIT) != 0
	a.ClockKHz, a.TimestampMask = raw.HcaCoreClock, raw.TimestampMask
	a.MaxWQ = int(raw.MaxWQTypeRQ)
	a.MaxWQTables, a.MaxWQTableSize = int(raw.RssCaps.MaxRWQIndirectionTables), int(raw.RssCaps.MaxRWQIndirectionTableSize)
	a.MaxModerationCount = int(raw.CQModerationCaps.MaxCQModerationCount)
	a.MaxModerationPeriod = time.Duration(raw.CQModerationCaps.MaxCQModerationPeriod) * time.Microsecond
	a.MaxDM = raw.MaxDmSize
}

// lanes and laneSpeeds decode a port's width and speed; the speeds are those that
// the kernel reckons with, in 100 Mbit/s (ib_port_attr_to_speed_info).
var (
	lanes = map[abi.IBPortWidth]int{
		abi.IB_WIDTH_1X: 1, abi.IB_WIDTH_2X: 2, abi.IB_WIDTH_4X: 4, abi.IB_WIDTH_8X: 8, abi.IB_WIDTH_12X: 12,
	}
	laneSpeeds = map[abi.IBPortSpeed]int{
		abi.IB_SPEED_SDR: 25, abi.IB_SPEED_DDR: 50, abi.IB_SPEED_QDR: 100, abi.IB_SPEED_FDR10: 100, abi.IB_SPEED_FDR: 140,
		abi.IB_SPEED_EDR: 250, abi.IB_SPEED_HDR: 500, abi.IB_SPEED_NDR: 1000, abi.IB_SPEED_XDR: 2000,
	}
)

// Mbps returns what the port's width and speed make together, in Mbit/s; 0 when
// they are not known. Soft devices report what their driver was written to
// report, not what their network device does.
func (a *PortAttr) Mbps() int { return lanes[a.ActiveWidth] * laneSpeeds[a.ActiveSpeed] * 100 }

// extend fills in width, speed and abilities of a port.
func (a *PortAttr) extend(raw *abi.IBUverbsQueryPortRespEx) {
	l := &raw.LegacyResp
	a.ActiveWidth, a.ActiveSpeed = abi.IBPortWidth(l.ActiveWidth), abi.IBPortSpeed(l.ActiveSpeed)
	if raw.ActiveSpeedEx != 0 { // speeds that do not fit 8 bits (Linux 6.4)
		a.ActiveSpeed = abi.IBPortSpeed(raw.ActiveSpeedEx)
	}
	a.CapFlags, a.CapFlags2 = abi.IBUverbsQueryPortCapFlags(l.PortCapFlags), raw.PortCapFlags2
	a.BadPKeys, a.QKeyViolations = l.BadPKeyCntr, l.QKeyViolCntr
	a.MaxVLs, a.SMSL = l.MaxVLNum, l.SMSL
}

// QueryPortSpeed returns the speed that a port has now, in Mbit/s
// (QUERY_PORT_SPEED, Linux 7.3): of several links put together, for instance, all
// that are up. Where kernel or driver do not tell, it is [PortAttr.Mbps]. The
// error is that of QueryPort.
func (c *Context) QueryPortSpeed(port int) (int, error) {
	speed, err := c.queryPortSpeed(port)
	if !errors.Is(err, errors.ErrUnsupported) {
		return speed, err
	}
	attr, err := c.QueryPort(port)
	if err != nil {
		return 0, err
	}
	return attr.Mbps(), nil
}

func (c *Context) queryPortSpeed(port int) (int, error) {
	object := "port " + strconv.Itoa(port)
	if err := c.life.enter(); err != nil {
		return 0, err
	}
	defer c.life.leave()
	if port < 1 || port > 255 {
		return 0, c.fail(methodQueryPortSpeed.name, object, syscall.EINVAL)
	}
	i, err := c.nativeOnly(&methodQueryPortSpeed, object)
	if err != nil {
		return 0, err
	}
	defer i.release()
	i.u64(uint16(abi.UVERBS_ATTR_QUERY_PORT_SPEED_PORT_NUM), uint64(port))
	speed := i.outU64(uint16(abi.UVERBS_ATTR_QUERY_PORT_SPEED_RESP))
	if err := c.ioctl(i, object); err != nil {
		return 0, err
	}
	return int(*speed) * 100, nil
}
