package main

import (
	"context"
	"fmt"
)

// ipOverhead is what an IP packet of RDMA has besides the data: UDP, base
// transport, the header of an RDMA write, check sum, and IP itself.
func ipOverhead(v4 bool) int {
	const rest = 8 + 12 + 16 + 4
	if v4 {
		return 20 + rest
	}
	return 40 + rest
}

// stageMTU says what packets may carry, and whether ones of that size arrive.
func (r *pathRun) stageMTU(ctx context.Context) stageOutcome {
	r.doc.MTU = r.res.mtu
	if r.res.mtu == 0 {
		return stageOutcome{detail: "not known: there is no path record", warning: r.res.paths > 0}
	}
	packet := r.res.mtu + ipOverhead(r.dst.Is4())
	text := fmt.Sprintf("%d B of data in a packet; %s takes %d B in all", r.res.mtu, r.egress.Name, r.egress.MTU)
	if r.route.MTU != 0 && r.route.MTU != r.egress.MTU {
		text += fmt.Sprintf(", the route %d B", r.route.MTU)
	}
	if r.route.MTU != 0 && r.route.MTU < packet {
		return stageOutcome{detail: text + fmt.Sprintf(": RDMA does not know the route's MTU, and sends up to %d B", packet), warning: true}
	}
	if r.route.Local || r.opts.noProbe {
		return stageOutcome{detail: text}
	}
	got := r.sys.reach(ctx, r.dst, packet)
	switch {
	case got.err != nil:
		return stageOutcome{detail: fmt.Sprintf("%s; not tested: %v", text, got.err)}
	case !got.small:
		return stageOutcome{detail: text + "; not tested: the far end does not answer test packets"}
	case !got.large:
		out := r.fail("test the path MTU", checkError{fmt.Sprintf("MTU mismatch: packets of %d B do not arrive, small ones do", packet), errCheckFailed},
			fmt.Sprintf("give every interface on the way, the far end's too, an MTU of %d or more; or lower that of %s", packet, r.egress.Name))
		out.took = got.took
		return out
	}
	return stageOutcome{detail: text + fmt.Sprintf("; packets of %d B arrive", packet), took: got.took}
}

func (r *pathRun) stageTOS(context.Context) stageOutcome {
	_, configured := r.sys.cmDefaults(r.doc.Device, r.doc.Port)
	if r.res.paths == 0 {
		return stageOutcome{detail: "not known: there is no path record"}
	}
	r.doc.TOS = r.res.tos
	text := fmt.Sprintf("%d (DSCP %d)", r.res.tos, r.res.tos>>2)
	switch {
	case r.tos >= 0 && r.res.tos != r.tos:
		return stageOutcome{detail: fmt.Sprintf("%s, although %d was asked for", text, r.tos), warning: true}
	case r.tos >= 0:
		text += ", as asked for"
	case configured != "":
		text += ", default_roce_tos is " + configured
	default:
		text += ", the default"
	}
	return stageOutcome{detail: text}
}

func (r *pathRun) stageHopLimit(context.Context) stageOutcome {
	if r.res.paths == 0 {
		return stageOutcome{detail: "not known: there is no path record"}
	}
	r.doc.HopLimit = r.res.hopLimit
	text := fmt.Sprint(r.res.hopLimit)
	if r.route.Gateway.IsValid() && r.res.hopLimit < 2 {
		return stageOutcome{detail: text + ", but there is a router on the way, which drops such packets", warning: true}
	}
	return stageOutcome{detail: text}
}
