package doctor

import "fmt"

// fewFiles is less than what a program with a connection per core needs.
const fewFiles = 256

// checkLimits compares the device's maxima with use. Netlink counts the objects
// of all processes.
func checkLimits(f *Facts, r *Result) {
	for _, d := range f.Devices {
		checkMaxima(r, d)
	}
	r.Summary = limitSummary(f)
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

func limitSummary(f *Facts) string {
	s := "not known"
	for i, d := range f.Devices {
		if d.Attr == nil {
			continue
		}
		text := fmt.Sprintf("%s %d of %d qp", d.Name, d.Resources["qp"], d.Attr.MaxQP)
		if i == 0 || s == "not known" {
			s = text
		} else {
			s += ", " + text
		}
	}
	if f.Files.Known {
		s += ", " + count(f.Files.Soft) + " files"
	}
	return s
}

func count(n uint64) string {
	if n == Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}
