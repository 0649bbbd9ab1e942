package doctor

import (
	"slices"
	"strings"

	"github.com/purerdma/rdma/uverbs"
)

// checkModules passes on what discovery finds missing, except what other
// sections tell in more detail.
func checkModules(f *Facts, r *Result) {
	var present []string
	for _, m := range f.Diagnosis.Modules {
		if m.State == uverbs.ModulePresent {
			present = append(present, m.Name)
		}
	}
	r.Summary = strings.Join(present, ", ")
	if len(present) == 0 {
		r.Summary = "none"
	}
	unknown := func(m uverbs.ModuleStatus) bool { return m.State == uverbs.ModuleUnknown }
	if len(f.Diagnosis.Modules) == 0 || slices.ContainsFunc(f.Diagnosis.Modules, unknown) {
		r.unknown(r.Summary + " that could be seen")
	}
	exclusive := f.Diagnosis.NetnsMode == "exclusive"
	for _, d := range f.Diagnosis.Findings {
		if slices.Contains(ListOnly, d.ID) || d.ID == "RP-DRV-001" || d.ID == "RP-DEV-001" && exclusive {
			continue // said elsewhere, with more of the cause
		}
		problem, evidence := splitEvidence(d.Problem)
		r.find(d.ID, d.Object, problem, evidence, d.Remedy)
	}
	for _, d := range f.Devices {
		for _, p := range d.Problems {
			r.find("RP-DEV-004", d.Name, p.Error(), "discovery through "+d.Source, "see the kernel log")
		}
	}
}

// splitEvidence takes "not loaded (/proc/modules does not list it)" apart.
func splitEvidence(s string) (problem, evidence string) {
	if rest, ok := strings.CutSuffix(s, ")"); ok {
		if problem, evidence, ok := strings.Cut(rest, " ("); ok {
			return problem, evidence
		}
	}
	return s, ""
}
