package doctor

import (
	"fmt"
	"strings"

	"github.com/purerdma/rdma/uverbs"
)

// An Answer is what came of asking a device's connection manager something.
type Answer int

// Answers.
const (
	NotAsked Answer = iota
	Answers
	Silent
)

// Stuck is a connection manager that sends nothing any more.
type Stuck struct{ Problem, Evidence, Remedy string }

// StuckCM judges whether the connection manager of a device has stopped: by the
// state of its queue pair 1, empty when not known, and by whether it answers
// itself.
//
// When soft-RoCE cannot send a packet of that queue pair, because the interface is
// down or a filter of this host drops it, then rxe_requester fails the request and
// moves the queue pair to ERR (6.12, 7.3); older kernels leave it in RTS and wait for a
// packet that was never sent (need_req_skb; 5.10). The kernel would bring it back to RTS
// from SQE only (mad_error_handler of ib_mad), so that it stays as it is until the device
// is made anew.
func StuckCM(d *uverbs.Device, gsi string, self Answer) (s Stuck, stuck bool) {
	bad := gsi == "ERR" || gsi == "SQE"
	switch {
	case bad:
		s.Evidence = "queue pair 1 (GSI) is in state " + gsi
	case self == Silent:
		s.Evidence = "it does not answer a connect request from its own address"
		if gsi != "" {
			s.Evidence += "; queue pair 1 (GSI) is in state " + gsi
		}
	default:
		return Stuck{}, false
	}
	s.Problem = "its connection manager has stopped: it neither asks nor answers anybody, itself included"
	s.Remedy = "make the device anew: " + remake(d)
	return s, true
}

func remake(d *uverbs.Device) string {
	if d.DriverID != rxeDriver {
		return "unload its driver and load it again"
	}
	netdev := "NETDEV"
	if len(d.Ports) > 0 && d.Ports[0].Netdev != "" {
		netdev = d.Ports[0].Netdev
	}
	return fmt.Sprintf("rdmaprobe rxe del %s && rdmaprobe rxe add %s --name %s", d.Name, netdev, d.Name)
}

// checkCM looks whether the connection managers of the devices still work.
func checkCM(f *Facts, r *Result) {
	var parts []string
	for _, d := range f.Devices {
		if s, stuck := StuckCM(d.Device, d.GSI, d.Self); stuck {
			r.find("RP-CM-002", d.Name, s.Problem, s.Evidence, s.Remedy)
			continue
		}
		switch {
		case d.Self == Answers:
			parts = append(parts, d.Name+" answers itself")
		case d.GSI != "":
			parts = append(parts, d.Name+" has queue pair 1 in "+d.GSI)
		}
	}
	r.Summary = strings.Join(parts, ", ")
	switch {
	case len(f.Devices) == 0:
		r.nothing("no device")
	case len(parts) == 0 && len(r.Findings) == 0:
		r.unknown("no device could be asked")
	}
}
