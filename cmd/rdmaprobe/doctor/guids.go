package doctor

import (
	"fmt"
	"strings"

	"github.com/purerdma/rdma/uverbs"
)

// checkGUIDs: programs that tell devices by their node GUID need it, and need
// it to be the only one.
func checkGUIDs(f *Facts, r *Result) {
	owners := map[uverbs.GUID][]string{}
	var order []uverbs.GUID
	for _, d := range f.Devices {
		if d.NodeGUID == 0 {
			r.find("RP-GUI-001", d.Name, "node GUID is zero: programs that tell devices by it fail", "RDMA netlink and sysfs say so",
				"make the device on an interface with a hardware address, or set the GUID of the virtual function: ip link set PF vf N node_guid GUID")
			continue
		}
		if owners[d.NodeGUID] == nil {
			order = append(order, d.NodeGUID)
		}
		owners[d.NodeGUID] = append(owners[d.NodeGUID], d.Name)
	}
	for _, g := range order {
		if names := owners[g]; len(names) > 1 {
			r.find("RP-GUI-002", strings.Join(names, ", "), "have the same node GUID "+g.String()+": programs take one for the other",
				"node GUIDs of the devices", "give the interfaces different hardware addresses, or set the GUIDs of the virtual functions")
		}
	}
	r.Summary = fmt.Sprintf("%d different", len(order))
	if len(f.Devices) == 0 {
		r.nothing("no device")
	}
}
