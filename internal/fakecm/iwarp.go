package fakecm

import "github.com/purerdma/rdma/abi"

// seen returns parameters as the other end sees them: iWARP carries the length of
// private data, InfiniBand pads it.
func (k *Kernel) seen(p *abi.RDMAUCMConnParam, size uint8) *abi.RDMAUCMConnParam {
	if k.IWARP {
		size = p.PrivateDataLen
	}
	return padded(p, size)
}

// establishIWARP ends a handshake: the answer establishes both ends (cma_iw_handler).
// Its event tells the depths of the queues of the side that sees it, not the peer's
// wishes (siw_cm_upcall).
func (i *id) establishIWARP(answer *abi.RDMAUCMConnParam) {
	p := i.peer
	i.state, p.state, p.accepted = connected, connected, true
	i.event(abi.RDMA_CM_EVENT_ESTABLISHED, 0, nil)
	p.param = *padded(answer, answer.PrivateDataLen)
	p.param.InitiatorDepth, p.param.ResponderResources = answer.InitiatorDepth, answer.ResponderResources
	p.event(abi.RDMA_CM_EVENT_ESTABLISHED, 0, &p.param)
}
