package doctor

import "fmt"

// checkCgroup compares the limits of the RDMA cgroups with use.
func checkCgroup(f *Facts, r *Result) {
	limited := 0
	for _, c := range f.Cgroups {
		if c.Max == Unlimited {
			continue
		}
		limited++
		object := "cgroup " + c.Path
		evidence := fmt.Sprintf("rdma.current %d, rdma.max %d", c.Used, c.Max)
		const remedy = "close objects, or raise the limit: echo 'DEVICE hca_handle=N hca_object=N' > rdma.max of that cgroup"
		switch {
		case c.Used >= c.Max:
			r.find("RP-CGR-001", object, fmt.Sprintf("%d of %d %s of %s are in use: no more can be made (ENOMEM or EAGAIN)", c.Used, c.Max, c.Resource, c.Device), evidence, remedy)
		case nearly(c.Used, c.Max):
			r.find("RP-CGR-002", object, fmt.Sprintf("%d of %d %s of %s are in use", c.Used, c.Max, c.Resource, c.Device), evidence, remedy)
		}
	}
	r.Summary = "no limit"
	if !f.CgroupsRead && limited == 0 {
		r.unknown("limits not read")
	}
	if limited > 0 {
		r.Summary = fmt.Sprintf("%d limits", limited)
	}
}

// nearly reports whether nine tenths of a limit are used.
func nearly(used, max uint64) bool { return used >= max-max/10 }
