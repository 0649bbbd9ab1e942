package main

import (
	"errors"
	"fmt"
	"net"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/uverbs"
)

// silence is a step of connecting in which nobody answered in time.
type silence struct {
	step   string // as cm.OpError names it
	peer   string // address or name, without port
	device string // empty until it is known
}

// silenceOf finds the silence that an error is about.
func silenceOf(err error) (s silence, ok bool) {
	var op *cm.OpError
	var f *failure
	switch {
	case errors.As(err, &op):
		if op.Op != "dial" || op.Remote == nil {
			return s, false
		}
		return silence{op.Step, hostOf(op.Remote.String()), op.Device}, true
	case errors.As(err, &f):
		return silence{f.step, hostOf(f.peer), f.device}, f.peer != ""
	}
	return s, false
}

func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}

// explain says what the silence means and how to find out more. A connection
// that stays without an answer looks alike whether a filter, the host or its
// RDMA is the reason, but other packets tell the first from the rest.
func (s silence) explain(e *errorDoc, p uverbs.Protocol) {
	switch s.step {
	case "resolve address":
		e.Cause = "no neighbour for " + s.peer
		e.Remedy = fmt.Sprintf("host or gateway down, wrong address, or no ARP/ND on that link: rdmaprobe path %s shows the stages", s.peer)
	case "connect":
		e.Cause, e.Remedy = s.unconnected(p)
	}
}

// unconnected explains a connect request without an answer.
func (s silence) unconnected(p uverbs.Protocol) (cause, remedy string) {
	const firewall = "rdmaprobe path %s shows whether other packets arrive there. If they do, a firewall on one of the hosts or between them drops %s"
	switch p {
	case uverbs.ProtocolIB, uverbs.ProtocolOPA:
		return "no answer (host down, or rdma_cm not loaded there)", "rdmaprobe doctor on the peer"
	case uverbs.ProtocolIWARP:
		return "no answer (TCP port filtered, or host down)", fmt.Sprintf(firewall, s.peer, "that TCP port")
	}
	port := fmt.Sprintf("UDP port %d", abi.ROCE_V2_UDP_DPORT)
	return fmt.Sprintf("no answer (%s filtered, or host down)", port),
		fmt.Sprintf(firewall, s.peer, port) + ", or the peer has no RDMA on that address: rdmaprobe doctor there"
}

// protocolOf returns what a device speaks, or "" when it cannot be found.
func (a *app) protocolOf(device string) uverbs.Protocol {
	if device == "" {
		return ""
	}
	for _, d := range a.sys.diagnose().Devices {
		if d.Name == device {
			return d.Protocol
		}
	}
	return ""
}
