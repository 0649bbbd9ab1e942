package ucma

import (
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// CreateID makes an ID (kernel command CREATE_ID) and returns its handle, for
// which 0 is a valid value. uid comes back in every event of the ID. qpType
// (IB_UVERBS_QPT_…) matters only for port space RDMA_PS_IB; for the others the
// kernel derives it.
//
// The ID belongs to the network namespace of the calling thread; a goroutine
// that switched namespaces keeps its thread locked around the call.
func (c *Channel) CreateID(uid uint64, ps abi.RDMAUCMPortSpace, qpType uint8) (id uint32, err error) {
	resp, err := ask[abi.RDMAUCMCreateID, abi.RDMAUCMCreateIDResp](c, abi.RDMA_USER_CM_CMD_CREATE_ID, 0,
		func(q *abi.RDMAUCMCreateID, answer uint64) {
			q.UID, q.Response, q.Ps, q.QPType = uid, answer, uint16(ps), qpType
		})
	return resp.ID, err
}

// DestroyID destroys an ID (DESTROY_ID) and returns how many of its events
// were fetched. Events not fetched yet are dropped; a connected or connecting
// peer is told. Destroying a listener rejects requests nobody fetched.
func (c *Channel) DestroyID(id uint32) (eventsReported uint32, err error) {
	resp, err := ask[abi.RDMAUCMDestroyID, abi.RDMAUCMDestroyIDResp](c, abi.RDMA_USER_CM_CMD_DESTROY_ID, id,
		func(q *abi.RDMAUCMDestroyID, answer uint64) { q.Response, q.ID = answer, id })
	return resp.EventsReported, err
}

// MigrateID moves an ID with its pending events from channel from to c
// (MIGRATE_ID) and returns how many of its events from had delivered. The
// handle stays the same.
func (c *Channel) MigrateID(from *Channel, id uint32) (eventsReported uint32, err error) {
	var resp abi.RDMAUCMMigrateResp
	ctlErr := from.file.WithFD(func(fd int) {
		resp, err = ask[abi.RDMAUCMMigrateID, abi.RDMAUCMMigrateResp](c, abi.RDMA_USER_CM_CMD_MIGRATE_ID, id,
			func(q *abi.RDMAUCMMigrateID, answer uint64) {
				q.Response, q.ID, q.FD = answer, id, uint32(fd)
			})
	})
	if ctlErr != nil {
		return 0, fail(abi.RDMA_USER_CM_CMD_MIGRATE_ID, id, ctlErr)
	}
	return resp.EventsReported, err
}

// Bind gives an idle ID its local address (BIND; kernel 3.11). Port 0 lets the
// kernel choose. Errnos: EADDRINUSE same address and port, EADDRNOTAVAIL an
// unknown address or a clash that involves a wildcard, ENODEV an address on an
// interface without RDMA, EACCES a port below 1024 without
// CAP_NET_BIND_SERVICE, EINVAL an ID that is bound already or a link-local
// address without zone. Loopback addresses bind like the wildcard.
func (c *Channel) Bind(id uint32, addr Sockaddr) error {
	return portError(addr, run(c, abi.RDMA_USER_CM_CMD_BIND, id, func(q *abi.RDMAUCMBind) {
		q.ID = id
		addr.store(&q.AddrSize, &q.Addr)
	}))
}

// BindIP is Bind through the older command BIND_IP, which takes IP addresses
// only. New code uses Bind.
func (c *Channel) BindIP(id uint32, addr Sockaddr) error {
	in6, err := addr.legacy()
	if err != nil {
		return fail(abi.RDMA_USER_CM_CMD_BIND_IP, id, err)
	}
	return portError(addr, run(c, abi.RDMA_USER_CM_CMD_BIND_IP, id, func(q *abi.RDMAUCMBindIP) { q.ID, q.Addr = id, in6 }))
}

// Listen starts listening (LISTEN). backlog bounds the connection requests
// that wait unfetched; 0 or too much means the sysctl net.rdma_ucm.max_backlog.
// Beyond it requests are dropped without notice, so fetch events eagerly.
func (c *Channel) Listen(id, backlog uint32) error {
	return run(c, abi.RDMA_USER_CM_CMD_LISTEN, id, func(q *abi.RDMAUCMListen) { q.ID, q.Backlog = id, backlog })
}

// GetOption exists in the ABI (GET_OPTION) but no kernel implements it: the
// error matches errors.ErrUnsupported.
func (c *Channel) GetOption(id uint32) error {
	err := run(c, abi.RDMA_USER_CM_CMD_GET_OPTION, id, func(q *abi.RDMAUCMDisconnect) { q.ID = id })
	if err == nil {
		// A kernel that learned the command needs a layout this package
		// does not know.
		return fail(abi.RDMA_USER_CM_CMD_GET_OPTION, id, syscall.ENOSYS)
	}
	return err
}
