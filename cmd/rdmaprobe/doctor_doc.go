package main

import (
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
)

type doctorDoc struct {
	Kernel    string             `json:"kernel" doc:"kernel release"`
	Source    string             `json:"source" doc:"where devices were looked up: netlink, sysfs or none"`
	NetnsMode string             `json:"netns_mode" doc:"shared or exclusive; empty when not known"`
	Devices   []string           `json:"devices" doc:"names of the devices that were looked at"`
	NeedBytes uint64             `json:"need_bytes" doc:"size of --need in bytes; 0 without"`
	Sections  []sectionDoc       `json:"sections" doc:"what was looked at, the most basic first"`
	Findings  []doctorFindingDoc `json:"findings" doc:"what is wrong: errors first, and among equals the most basic"`
	Unknown   []string           `json:"unknown" doc:"what could not be found out, and why"`
	Pod       *podDoc            `json:"pod,omitempty" doc:"what this container lacks; only with --pod"`
	outcome
}

type sectionDoc struct {
	Name    string `json:"name" doc:"name of the section"`
	Result  string `json:"result" doc:"ok, or the severity of the worst finding: note, warning or error"`
	Summary string `json:"summary" doc:"what there is"`
}

type doctorFindingDoc struct {
	ID       string `json:"id" doc:"stable name of the finding, such as RP-MEM-001; docs/findings.md explains each"`
	Severity string `json:"severity" doc:"error (makes the check fail), warning or note"`
	Section  string `json:"section" doc:"the section that found it"`
	Object   string `json:"object" doc:"the module, device, file or limit concerned"`
	Problem  string `json:"problem" doc:"what is wrong"`
	Evidence string `json:"evidence" doc:"how that was found out; may be empty"`
	Remedy   string `json:"remedy" doc:"a command or an advice; may be empty"`
	Doc      string `json:"doc" doc:"where it is explained"`
}

type podDoc struct {
	Kubernetes string   `json:"kubernetes" doc:"the missing part of a pod's manifest; empty when nothing is missing"`
	Docker     string   `json:"docker" doc:"the missing options of docker run; empty when nothing is missing"`
	Host       []string `json:"host" doc:"what only the host can mend"`
}

func (*doctorDoc) hasFindings() {}

func newDoctorDoc(f *doctor.Facts, rep *doctor.Report) *doctorDoc {
	doc := &doctorDoc{Kernel: f.Diagnosis.Kernel, Source: sourceOf(f.Diagnosis), NetnsMode: f.Diagnosis.NetnsMode, NeedBytes: f.Need,
		Devices: []string{}, Sections: []sectionDoc{}, Findings: []doctorFindingDoc{}, Unknown: append([]string{}, f.Unknown...)}
	for _, d := range f.Devices {
		if f.Selected == "" || f.Selected == d.Name {
			doc.Devices = append(doc.Devices, d.Name)
		}
	}
	section := map[string]string{}
	for _, r := range rep.Results {
		result := string(r.Worst())
		if result == "" {
			result = "ok"
		}
		doc.Sections = append(doc.Sections, sectionDoc{r.Section, result, r.Summary})
		for _, found := range r.Findings {
			section[found.ID+found.Object] = r.Section
		}
	}
	for _, found := range rep.Findings() {
		doc.Findings = append(doc.Findings, doctorFindingDoc{ID: found.ID, Severity: string(found.Severity), Section: section[found.ID+found.Object],
			Object: found.Object, Problem: found.Problem, Evidence: found.Evidence, Remedy: found.Remedy,
			Doc: "docs/findings.md#" + strings.ToLower(found.ID)})
	}
	return doc
}
