package doctor

import (
	"fmt"
	"slices"
	"strings"
)

// checkSysfs looks for what only sysfs tells: counters, speed, modules.
func checkSysfs(f *Facts, r *Result) {
	switch {
	case !f.Sysfs.Mounted:
		r.Summary = "not mounted"
		r.find("RP-SYS-002", "/sys", "cannot be read, so counters and link speeds are not known",
			"/sys/class is not there", "mount sysfs, or ignore this")
		return
	case f.Diagnosis.SysfsErr != nil:
		r.nothing("no /sys/class/infiniband")
	default:
		r.Summary = fmt.Sprintf("/sys/class/infiniband has %d", len(f.Sysfs.Devices))
		if len(f.Sysfs.Devices) > 0 {
			r.Summary += ": " + strings.Join(f.Sysfs.Devices, ", ")
		}
	}
	for _, d := range f.Devices {
		if d.Source == "netlink" && !slices.Contains(f.Sysfs.Devices, d.Name) {
			r.find("RP-SYS-003", d.Name, "not in /sys/class/infiniband, so counters and link speed are not known",
				"RDMA netlink lists it", "sysfs shows the devices of the network namespace in which it was mounted: mount it anew in this one")
		}
	}
}
