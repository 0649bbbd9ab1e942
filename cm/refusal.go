package cm

import "github.com/purerdma/rdma/abi"

// What this package tells a peer that it refuses, as private data, which is
// RejectError.Text there. The destruction of an ID refuses its peer too, but says no
// more than "consumer defined" (reason 28, cm_destroy_id), as the kernel itself does
// when nobody listens on that address of the host (cma_find_listener): so the text is
// sent first.
const (
	refusedBusy     = "busy" // the backlog is full; ErrBusy
	refusedUnheard  = "listener closed"
	refusedClosed   = "request closed by the server"
	refusedAddrs    = "the server cannot find its device"
	refusedSetUp    = "the server cannot set up the connection"
	refusedCanceled = "accept was cancelled or timed out" // before the answer
	refusedDial     = "dial given up"
)

// setRefusal says what the peer is told if the ID is destroyed before the connection is
// established; nothing for "".
func (id *ID) setRefusal(text string) {
	id.mu.Lock()
	defer id.mu.Unlock()
	id.refusal = text
}

// replaceRefusal is setRefusal unless there is nothing to refuse any more.
func (id *ID) replaceRefusal(text string) {
	id.mu.Lock()
	defer id.mu.Unlock()
	if id.refusal != "" {
		id.refusal = text
	}
}

// takeRefusal returns what the peer is to be told now.
func (id *ID) takeRefusal() string {
	id.mu.Lock()
	defer id.mu.Unlock()
	text := id.refusal
	id.refusal = ""
	return text
}

// noteRefusal follows the state of the connection: there is something to refuse between
// a request and the establishment. The caller holds mu.
func (id *ID) noteRefusal(event abi.RDMACMEventType) {
	switch event {
	case abi.RDMA_CM_EVENT_CONNECT_RESPONSE:
		id.refusal = refusedDial
	case abi.RDMA_CM_EVENT_ESTABLISHED, abi.RDMA_CM_EVENT_REJECTED, abi.RDMA_CM_EVENT_UNREACHABLE,
		abi.RDMA_CM_EVENT_CONNECT_ERROR, abi.RDMA_CM_EVENT_DISCONNECTED, abi.RDMA_CM_EVENT_DEVICE_REMOVAL:
		id.refusal = ""
	}
}
