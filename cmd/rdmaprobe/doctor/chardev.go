package doctor

import (
	"fmt"
	"path"
	"strings"

	"github.com/purerdma/rdma/uverbs"
)

// checkCharDevices compares the nodes that the kernel has with those that are
// there and may be opened.
func checkCharDevices(f *Facts, r *Result) {
	var have []string
	diag := f.Diagnosis
	if diag.CM.Path != "" {
		have = append(have, nodeText(diag.CM, diag.CMUsability))
		nodeFinding(r, "rdma_cm", diag.CM, diag.CMUsability)
	}
	for _, d := range f.Devices {
		have = append(have, nodeText(d.CharDev, d.Usability))
		nodeFinding(r, d.Name, d.CharDev, d.Usability)
		if d.OpenErr != nil && (d.Usability.State == uverbs.Usable || d.Usability.State == uverbs.NoDataPath) {
			r.find("RP-DEV-003", d.Name, d.OpenErr.Error(), d.CharDev.Path+" opens, GET_CONTEXT fails",
				"see the kernel log; in a sandbox, allow ioctl on the device")
		}
		checkInterfaces(r, d)
	}
	r.Summary = strings.Join(have, ", ")
	if len(have) == 0 {
		r.nothing("none expected")
	}
	for _, n := range f.Nodes {
		if f.Selected == "" && n.Stale && !f.known(n) {
			r.find("RP-CHR-007", n.Path, "stale node: no RDMA device behind it",
				fmt.Sprintf("it is %d:%d, and opening it fails with ENXIO", n.Major, n.Minor),
				"rm "+n.Path+" (in a container: start it again, so that it gets the devices of now)")
		}
	}
}

// known reports whether a device or the connection manager has the node.
func (f *Facts) known(n Node) bool {
	for _, d := range f.Diagnosis.Devices {
		// A node at a device's own path is told about already, whatever its numbers.
		if d.CharDev.Path == n.Path || d.CharDev.Major == n.Major && d.CharDev.Minor == n.Minor {
			return true
		}
	}
	return f.Diagnosis.CM.Path == n.Path
}

func nodeText(c uverbs.CharDev, u uverbs.Usability) string {
	if !c.Exists() {
		return "none"
	}
	s := fmt.Sprintf("%s %d:%d", path.Base(c.Path), c.Major, c.Minor)
	if u.State != uverbs.Usable && u.State != uverbs.NoDataPath {
		s += " " + string(u.State)
	}
	return s
}

var nodeIDs = map[uverbs.UsabilityState]string{
	uverbs.DeniedMode:     "RP-CHR-003",
	uverbs.DeniedCgroup:   "RP-CHR-004",
	uverbs.DeniedPolicy:   "RP-CHR-005",
	uverbs.Gone:           "RP-CHR-006",
	uverbs.ModuleRemoved:  "RP-CHR-006",
	uverbs.UnknownTrouble: "RP-CHR-008",
}

// nodeFinding says why a node is of no use.
func nodeFinding(r *Result, object string, c uverbs.CharDev, u uverbs.Usability) {
	var id string
	switch u.State {
	case uverbs.Usable, uverbs.NoDataPath, uverbs.WrongNetns:
		return // NoDataPath and WrongNetns have sections of their own
	case uverbs.NoCharDevice:
		switch {
		case !c.Exists():
			return // a matter of modules
		case u.Err == nil:
			id = "RP-CHR-002"
		default:
			id = "RP-CHR-001"
		}
	default:
		id = nodeIDs[u.State]
	}
	if id == "" {
		id = "RP-CHR-008"
	}
	module := "ib_uverbs"
	if object == "rdma_cm" {
		module = "rdma_ucm"
	}
	evidence := fmt.Sprintf("module %s is loaded, the kernel has %s as %d:%d", module, path.Base(c.Path), c.Major, c.Minor)
	if u.Err != nil {
		evidence += "; " + u.Err.Error()
	}
	r.find(id, object, u.Reason, evidence, u.Remedy)
}
