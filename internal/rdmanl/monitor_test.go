package rdmanl

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

type fakeReceiver struct{ datagrams [][]byte }

func (f *fakeReceiver) next(context.Context) ([]byte, error) {
	if len(f.datagrams) == 0 {
		return nil, context.Canceled
	}
	b := f.datagrams[0]
	f.datagrams = f.datagrams[1:]
	return b, nil
}

func (f *fakeReceiver) close() error { return nil }

const monitorType = uint16(abi.RDMA_NL_NLDEV<<10) | uint16(abi.RDMA_NLDEV_CMD_MONITOR)

func notification(event abi.RDMANlNotifyEventType) []byte {
	b := encode(uint16(abi.RDMA_NLDEV_ATTR_EVENT_TYPE), byte(event))
	b = append(b, encode(uint16(abi.RDMA_NLDEV_ATTR_DEV_INDEX), hostU32(3)...)...)
	b = append(b, encode(uint16(abi.RDMA_NLDEV_ATTR_DEV_NAME), []byte("rxe0\x00")...)...)
	b = append(b, encode(uint16(abi.RDMA_NLDEV_ATTR_PORT_INDEX), hostU32(1)...)...)
	b = append(b, encode(uint16(abi.RDMA_NLDEV_ATTR_NDEV_INDEX), hostU32(7)...)...)
	return append(b, encode(uint16(abi.RDMA_NLDEV_ATTR_NDEV_NAME), []byte("eth0\x00")...)...)
}

func TestMonitor(t *testing.T) {
	m := &Monitor{&fakeReceiver{[][]byte{
		packet(nlmsgDone, 0, 0, nil), // of no interest
		append(packet(monitorType, 0, 0, notification(abi.RDMA_NETDEV_ATTACH_EVENT)), packet(monitorType, 0, 0, notification(77))...),
		packet(monitorType, 0, 0, []byte{3, 0, 1, 0}),
	}}}
	got, err := m.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	one := Notification{Event: abi.RDMA_NETDEV_ATTACH_EVENT, DeviceIndex: 3, Device: "rxe0", Port: 1, NetdevIndex: 7, Netdev: "eth0"}
	two := one
	two.Event = 77
	if diff := cmp.Diff([]Notification{one, two}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := m.Next(t.Context()); !errors.Is(err, ErrMalformed) {
		t.Errorf("error %v for a broken attribute", err)
	}
	if _, err := m.Next(t.Context()); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v at the end", err)
	}
}

func FuzzMonitor(f *testing.F) {
	f.Add(packet(monitorType, 0, 0, notification(abi.RDMA_REGISTER_EVENT)))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := decodeNotifications(b); err != nil && !errors.Is(err, ErrMalformed) {
			t.Error(err)
		}
	})
}
