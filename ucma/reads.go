package ucma

// InitiatorDepth and ResponderResources mean different things to the two ends,
// and the kernel exchanges them on the way. From the point of view of whoever
// holds a ConnParam, as what it sends or as what an event shows it, they always
// have these names.

// LocalReads is how many RDMA reads and atomics this side will have outstanding
// (InitiatorDepth).
func (p *ConnParam) LocalReads() uint8 { return p.InitiatorDepth }

// PeerReads is how many RDMA reads and atomics of the peer this side serves at
// a time (ResponderResources).
func (p *ConnParam) PeerReads() uint8 { return p.ResponderResources }

// SetReads sets both limits. In a request they are wishes; in an answer they
// are at most what the request allows, as its event shows it.
func (p *ConnParam) SetReads(local, peer uint8) {
	p.InitiatorDepth, p.ResponderResources = local, peer
}
