package doctor

import (
	"fmt"

	"github.com/purerdma/rdma/uverbs"
)

// checkNetns says what the mode of network namespaces means here.
func checkNetns(f *Facts, r *Result) {
	checkSocket(f, r)
	mode := f.Diagnosis.NetnsMode
	switch mode {
	case "":
		r.unknown("mode not known: RDMA netlink does not tell")
		return
	case "shared":
		r.Summary = "shared: every network namespace sees every device"
		return
	}
	r.Summary = "exclusive: a device is seen in one network namespace only"
	const evidence = "RDMA netlink says exclusive mode"
	const remedy = "give this namespace a device: rdma dev set DEVICE netns NAME (on the host), or boot with " +
		"ib_core.netns_mode=1 (shared); rdma system set netns shared works while no other namespace exists"
	for _, d := range f.Devices {
		if d.Usability.State == uverbs.WrongNetns {
			r.find("RP-NNS-001", d.Name, d.Usability.Reason, evidence, remedy)
		}
	}
	if len(f.Devices) == 0 {
		problem := "RDMA is in exclusive mode, and this network namespace has no device"
		r.find("RP-NNS-001", "network namespace", problem, evidence+" and lists no device", remedy)
		return
	}
	r.find("RP-NNS-002", "network namespaces", fmt.Sprintf("exclusive mode: containers with a network of their own do not see the %d devices here", len(f.Devices)),
		evidence, "to share devices: rdma system set netns shared, before any other namespace exists")
}

// checkSocket: soft-RoCE gets its packets through a UDP socket. Before Linux 7.2
// there is one, in the first network namespace; since then each namespace in
// which a device was made has its own (rxe_ns.c).
func checkSocket(f *Facts, r *Result) {
	if !f.RoCESocket.Known || f.RoCESocket.Open {
		return
	}
	for _, d := range f.Devices {
		if d.DriverID != rxeDriver || !f.reaches(d) {
			continue
		}
		remedy := "use the first network namespace (docker run --network host), or Linux 7.2 or newer"
		if major, minor, ok := version(f.Diagnosis.Kernel); ok && (major > 7 || major == 7 && minor >= 2) {
			remedy = "make the device anew in this namespace: rdma link add NAME type rxe netdev NETDEV"
		}
		r.find("RP-NNS-003", d.Name, "soft-RoCE does not listen in this network namespace: packets to it are lost",
			"/proc/net/udp has no socket at port 4791", remedy)
	}
}
