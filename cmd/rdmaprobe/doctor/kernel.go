package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// Versions of the kernel's interfaces that this program speaks.
const (
	verbsABI = 6
	cmABI    = 4
)

// checkKernel looks at release and versions of interfaces.
func checkKernel(f *Facts, r *Result) {
	release := f.Diagnosis.Kernel
	if release == "" {
		r.unknown("uname gives no release")
		return
	}
	r.Summary = release
	if !f.Sysfs.Mounted {
		r.Summary += ", ABI versions not read (no sysfs)"
	}
	if f.VerbsABI != 0 {
		r.Summary += fmt.Sprintf(", verbs ABI %d", f.VerbsABI)
	}
	if f.CMABI != 0 {
		r.Summary += fmt.Sprintf(", rdma_cm ABI %d", f.CMABI)
	}
	if major, minor, ok := version(release); ok && (major < 5 || major == 5 && minor < 10) {
		r.find("RP-KRN-001", "kernel "+release, "older than 5.10, the oldest that this program is tested with",
			"uname says "+release, "boot a newer kernel")
	}
	if f.VerbsABI != 0 && f.VerbsABI != verbsABI {
		r.find("RP-ABI-001", "ib_uverbs", fmt.Sprintf("interface version %d, this program speaks %d", f.VerbsABI, verbsABI),
			"/sys/class/infiniband_verbs/abi_version", "use a newer rdmaprobe")
	}
	if f.CMABI != 0 && f.CMABI != cmABI {
		r.find("RP-ABI-002", "rdma_ucm", fmt.Sprintf("interface version %d, this program speaks %d", f.CMABI, cmABI),
			"/sys/class/misc/rdma_cm/abi_version", "use a newer rdmaprobe")
	}
}

// version reads "6.12.95-amd64".
func version(release string) (major, minor int, ok bool) {
	parts := strings.SplitN(release, ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	digits := strings.IndexFunc(parts[1], func(c rune) bool { return c < '0' || c > '9' })
	if digits >= 0 {
		parts[1] = parts[1][:digits]
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return 0, 0, false
	}
	minor, err = strconv.Atoi(parts[1])
	return major, minor, err == nil
}
