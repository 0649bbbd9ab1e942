package doctor

import (
	"fmt"
	"strings"
)

// fewFiles is less than what a program with a connection per core needs.
const fewFiles = 256

// FewRequests is a backlog that a few clients at once exceed.
const FewRequests = 64

// BacklogText says what a small limit on the backlog does. The kernel drops the
// requests beyond it without a word (ucma_event_handler), so that dials time out.
func BacklogText(limit int) string {
	return fmt.Sprintf("net.rdma_ucm.max_backlog is %d: of more connect requests at once to one listener the kernel drops the rest in silence, and their dials time out", limit)
}

// checkLimits compares the device's maxima with use. Netlink counts the objects
// of all processes.
func checkLimits(f *Facts, r *Result) {
	for _, d := range f.Devices {
		checkMaxima(r, d)
	}
	summarizeLimits(f, r)
	if f.BacklogKnown && f.MaxBacklog < FewRequests {
		r.find("RP-LIM-004", "net.rdma_ucm.max_backlog", BacklogText(f.MaxBacklog), fmt.Sprintf("/proc/sys/net/rdma_ucm/max_backlog has %d, the kernel's default is 1024", f.MaxBacklog),
			"sysctl net.rdma_ucm.max_backlog=1024")
	}
	if f.Files.Known && f.Files.Soft < fewFiles {
		r.find("RP-LIM-003", "RLIMIT_NOFILE", fmt.Sprintf("only %d open files are allowed; each device in use takes several", f.Files.Soft),
			fmt.Sprintf("soft limit %d, hard limit %s", f.Files.Soft, count(f.Files.Hard)), "ulimit -n 65536; systemd: LimitNOFILE=65536")
	}
}

func checkMaxima(r *Result, d Device) {
	if d.Attr == nil || d.Resources == nil {
		return
	}
	for _, m := range []struct {
		kind, name string
		max        int
	}{
		{"qp", "max_qp", d.Attr.MaxQP}, {"cq", "max_cq", d.Attr.MaxCQ}, {"mr", "max_mr", d.Attr.MaxMR},
		{"pd", "max_pd", d.Attr.MaxPD}, {"srq", "max_srq", d.Attr.MaxSRQ},
	} {
		used, known := d.Resources[m.kind]
		if !known || m.max <= 0 {
			continue
		}
		evidence := fmt.Sprintf("%s %d, RDMA netlink counts %d", m.name, m.max, used)
		const remedy = "rdmaprobe res shows who has them; close what is not used"
		switch {
		case used >= uint64(m.max):
			r.find("RP-LIM-001", d.Name, fmt.Sprintf("%d of %d %s are in use: no more can be made (ENOMEM)", used, m.max, m.kind), evidence, remedy)
		case nearly(used, uint64(m.max)):
			r.find("RP-LIM-002", d.Name, fmt.Sprintf("%d of %d %s are in use", used, m.max, m.kind), evidence, remedy)
		}
	}
}

// summarizeLimits says what there is; without devices only the process has limits.
func summarizeLimits(f *Facts, r *Result) {
	var parts []string
	for _, d := range f.Devices {
		if d.Attr != nil {
			used := "use not known"
			if n, known := d.Resources["qp"]; known {
				used = fmt.Sprint(n)
			}
			parts = append(parts, fmt.Sprintf("%s %s of %d qp", d.Name, used, d.Attr.MaxQP))
		}
	}
	blind := len(parts) == 0 && len(f.Devices) > 0
	if blind {
		parts = append(parts, "device limits not known: no device opens")
	}
	if f.Files.Known {
		parts = append(parts, count(f.Files.Soft)+" files")
	}
	if len(parts) == 0 {
		parts, blind = []string{"not known"}, true
	}
	r.Summary = strings.Join(parts, ", ")
	if blind {
		r.unknown(r.Summary)
	}
}

func count(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}
