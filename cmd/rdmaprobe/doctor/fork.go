package doctor

// checkFork: without copy-on-fork, a child process may take the pages that the
// device writes to.
func checkFork(f *Facts, r *Result) {
	switch {
	case f.Diagnosis.CopyOnFork:
		r.Summary = "copy-on-fork"
	case f.Diagnosis.NetlinkErr != nil:
		r.unknown("RDMA netlink does not tell")
	case len(f.Devices) == 0:
		r.nothing("no device")
	default:
		r.Summary = "no copy-on-fork"
		r.find("RP-FRK-001", "kernel", "does not copy registered memory on fork: a program that forks may lose data that the device writes",
			"RDMA netlink does not report copy-on-fork (kernel 5.12)", "start other programs before registering memory, or use vfork or posix_spawn, as Go does")
	}
}
