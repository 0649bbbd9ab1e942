package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/purerdma/rdma/cm"
)

// A way is what an error says of where packets went.
type way struct {
	device string // empty until it is known
	host   string // address or name of the peer, without port
}

// wayOf finds device and peer of an error; false when it is about neither.
func wayOf(err error) (w way, ok bool) {
	var op *cm.OpError
	if errors.As(err, &op) {
		w.device = op.Device
		if op.Remote != nil {
			w.host = hostOf(op.Remote.String())
		}
	}
	var f *failure
	if errors.As(err, &f) {
		if w.device == "" {
			w.device = f.device
		}
		if w.host == "" {
			w.host = hostOf(f.peer)
		}
	}
	return w, w != way{}
}

// mayBeHere are the classes of errors that something on this machine may be
// behind, although they look like the peer's or the network's fault.
var mayBeHere = []string{"timeout", "unreachable", "no-device", "peer-closed", "completion", "failed"}

// blameHere looks at this machine before anybody else is blamed, and reports
// whether it found the reason. The port comes first: without it nothing works.
func (a *app) blameHere(e *errorDoc, w way) bool {
	if !slices.Contains(mayBeHere, e.Class) {
		return false
	}
	if p, down := a.findDownPort(w.device, w.host); down {
		e.Class, e.ExitCode = "port-down", exitUnreachable
		p.explain(e)
		return true
	}
	if e.Class != "timeout" || w.device == "" {
		return false
	}
	if s, stuck := a.stuckCM(w.device, true); stuck {
		e.Class, e.ExitCode = "cm-stopped", exitUnreachable
		e.Cause = fmt.Sprintf("%s: %s (%s)", w.device, s.Problem, s.Evidence)
		e.Remedy = s.Remedy
		return true
	}
	return false
}
