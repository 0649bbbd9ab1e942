package rdmanl

import (
	"context"

	"github.com/purerdma/rdma/abi"
)

// Notification is one message of the kernel's notification group (kernel 6.12).
type Notification struct {
	Event abi.RDMANlNotifyEventType
	// DeviceIndex and Device name the device; Port and Netdev are set for
	// events about a network device.
	DeviceIndex uint32
	Device      string
	Port        uint32
	NetdevIndex uint32
	Netdev      string
}

// Monitor receives notifications. One goroutine uses it at a time, except that
// Close may be called at any moment.
type Monitor struct {
	t receiver
}

// receiver is a socket that has joined the group.
type receiver interface {
	next(ctx context.Context) ([]byte, error)
	close() error
}

// OpenMonitor joins the kernel's notification group. Kernels before 6.12 let it
// join and never send: see [System.Monitor]. Without module ib_core the error
// matches EPROTONOSUPPORT, and on systems other than Linux errors.ErrUnsupported.
func OpenMonitor() (*Monitor, error) {
	t, err := openMonitor()
	if err != nil {
		return nil, wrap("monitor", "", err)
	}
	return &Monitor{t}, nil
}

// Close ends the monitor and a Next that waits.
func (m *Monitor) Close() error { return m.t.close() }

// Next waits for the next messages, one datagram's. The error is ctx's when it
// ends first. One that matches ENOBUFS means that messages were lost: look at
// everything again, and go on.
func (m *Monitor) Next(ctx context.Context) ([]Notification, error) {
	for {
		datagram, err := m.t.next(ctx)
		if err != nil {
			return nil, wrap("monitor", "", err)
		}
		out, err := decodeNotifications(datagram)
		if err != nil || len(out) > 0 {
			return out, wrap("monitor", "", err)
		}
	}
}

// decodeNotifications takes the notifications out of a datagram; messages of
// other kinds are skipped.
func decodeNotifications(datagram []byte) ([]Notification, error) {
	msgs, err := splitMessages(datagram)
	if err != nil {
		return nil, err
	}
	want := uint16(abi.RDMA_NL_NLDEV<<10) | uint16(abi.RDMA_NLDEV_CMD_MONITOR)
	var out []Notification
	for _, m := range msgs {
		if m.typ != want {
			continue
		}
		var n Notification
		if err := forEachAttr(m.data, n.attr); err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

func (n *Notification) attr(a attr) error {
	switch abi.RDMANldevAttr(a.typ) {
	case abi.RDMA_NLDEV_ATTR_EVENT_TYPE:
		var v uint8
		err := a.u8(&v)
		n.Event = abi.RDMANlNotifyEventType(v)
		return err
	case abi.RDMA_NLDEV_ATTR_DEV_INDEX:
		return a.u32(&n.DeviceIndex)
	case abi.RDMA_NLDEV_ATTR_DEV_NAME:
		return a.str(&n.Device)
	case abi.RDMA_NLDEV_ATTR_PORT_INDEX:
		return a.u32(&n.Port)
	case abi.RDMA_NLDEV_ATTR_NDEV_INDEX:
		return a.u32(&n.NetdevIndex)
	case abi.RDMA_NLDEV_ATTR_NDEV_NAME:
		return a.str(&n.Netdev)
	}
	return nil
}
