package cm

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// Route returns addresses, device, port and path of an ID with IP addresses
// (kernel command QUERY_ROUTE). Before they are known they are zero.
func (id *ID) Route() (r *ucma.Route, err error) {
	err = id.do(func(ch *ucma.Channel, h uint32) error {
		r, err = ch.QueryRoute(h)
		return err
	})
	return r, err
}

// Addrs returns addresses, device, port and partition key of an ID with
// addresses of any family (kernel command QUERY). Before they are known they
// are zero.
func (id *ID) Addrs() (a ucma.AddrInfo, err error) {
	err = id.do(func(ch *ucma.Channel, h uint32) error {
		a, err = ch.QueryAddr(h)
		return err
	})
	return a, err
}

// GIDs is Addrs with the GIDs in place of the addresses.
func (id *ID) GIDs() (a ucma.AddrInfo, err error) {
	err = id.do(func(ch *ucma.Channel, h uint32) error {
		a, err = ch.QueryGID(h)
		return err
	})
	return a, err
}

// Paths returns the path records of an ID with its route resolved.
func (id *ID) Paths() (paths []abi.IBPathRecData, err error) {
	err = id.do(func(ch *ucma.Channel, h uint32) error {
		paths, err = ch.QueryPath(h)
		return err
	})
	return paths, err
}

// IBServices returns the records that ResolveIBService found
// (rdma_query_addrinfo; kernel 6.18).
func (id *ID) IBServices() (recs []abi.IBUserServiceRec, err error) {
	err = id.do(func(ch *ucma.Channel, h uint32) error {
		recs, err = ch.QueryIBService(h)
		return err
	})
	return recs, err
}

// LocalAddr returns the ID's own address with its port (rdma_get_local_addr,
// rdma_get_src_port); the zero Sockaddr before it has one.
func (id *ID) LocalAddr() (ucma.Sockaddr, error) {
	a, err := id.Addrs()
	return a.Src, err
}

// RemoteAddr returns the peer's address with its port (rdma_get_peer_addr,
// rdma_get_dst_port); the zero Sockaddr before it is known.
func (id *ID) RemoteAddr() (ucma.Sockaddr, error) {
	a, err := id.Addrs()
	return a.Dst, err
}

// Device returns the RDMA device that the ID is bound to (the member verbs of
// C, which is opened; this is not). The error matches [ErrNoDevice] for an ID
// without one, such as a listener on a wildcard. uverbs.Devices lists all
// devices (rdma_get_devices).
func (id *ID) Device() (*uverbs.Device, error) {
	a, err := id.Addrs()
	if err != nil {
		return nil, err
	}
	if a.Port == 0 {
		return nil, fmt.Errorf("%w: the ID is not bound to one", ErrNoDevice)
	}
	d, err := findDevice(&ucma.Route{NodeGUID: a.NodeGUID, DeviceIndex: a.DeviceIndex, Port: a.Port})
	if err == nil {
		id.notIWARP.Store(knownNotIWARP(d))
	}
	return d, err
}

// Port returns the number of the device's port that the ID uses, from 1, or 0
// without a device (the member port_num of C).
func (id *ID) Port() (uint8, error) {
	a, err := id.Addrs()
	return a.Port, err
}
