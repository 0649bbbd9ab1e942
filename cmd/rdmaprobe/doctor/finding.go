package doctor

import "slices"

// Severity says how bad a finding is.
type Severity string

// Severities. Only errors make the check fail.
const (
	Error   Severity = "error"   // something does not work
	Warning Severity = "warning" // it works, but not as it should, or not for all
	Note    Severity = "note"    // worth knowing
)

// Finding is one thing that is wrong.
type Finding struct {
	ID       string
	Severity Severity
	Object   string // the module, device, file or limit concerned
	Problem  string // what is wrong
	Evidence string // how that was found out
	Remedy   string // a command or an advice
}

// Exit codes that an error may ask for; they are those of the program.
const (
	exitFailed     = 1
	exitNoDevice   = 3
	exitPermission = 4
)

// Rule is what is fixed about a kind of finding.
type Rule struct {
	ID       string
	Severity Severity
	Exit     int    // exit code, of errors
	Title    string // what it means, for the table in docs/findings.md
}

// RuleOf returns the rule of an id.
func RuleOf(id string) (Rule, bool) {
	for _, r := range Rules {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}

// Result is what a section found.
type Result struct {
	Section  string
	Summary  string // one line on what there is; may be empty
	Table    [][]string
	Findings []Finding
	blank    string // Unknown or Nothing when the section had nothing to judge
}

// Verdicts besides the severities.
const (
	OK      = "ok"      // looked at, and nothing found
	Unknown = "unknown" // could not be read, so nothing is known to be right
	Nothing = "none"    // there is nothing of this kind to look at
)

// unknown says that the section could not look, and why.
func (r *Result) unknown(why string) { r.blank, r.Summary = Unknown, why }

// nothing says that there is nothing to look at.
func (r *Result) nothing(why string) { r.blank, r.Summary = Nothing, why }

// Verdict is the severity of the worst finding or, without one, OK, Unknown or
// Nothing.
func (r *Result) Verdict() string {
	switch worst := r.Worst(); {
	case worst != "":
		return string(worst)
	case r.blank != "":
		return r.blank
	}
	return OK
}

// find adds a finding; its id decides how bad it is.
func (r *Result) find(id, object, problem, evidence, remedy string) {
	rule, _ := RuleOf(id) // a test looks for ids without a rule
	r.Findings = append(r.Findings, Finding{id, rule.Severity, object, problem, evidence, remedy})
}

// Worst returns the severity of the worst finding, "" without any.
func (r *Result) Worst() Severity {
	worst := Severity("")
	for _, f := range r.Findings {
		if rank(f.Severity) > rank(worst) {
			worst = f.Severity
		}
	}
	return worst
}

func rank(s Severity) int {
	switch s {
	case Error:
		return 3
	case Warning:
		return 2
	case Note:
		return 1
	}
	return 0
}

// Report is the outcome of all sections.
type Report struct {
	Results []Result
	// Looked are the facts that were looked at: without devices that were not
	// selected or that evidently are another container's.
	Looked *Facts
}

// sections are all checks, what is most basic first.
var sections = []struct {
	name  string
	check func(*Facts, *Result)
}{
	{"kernel", checkKernel},
	{"modules", checkModules},
	{"char devices", checkCharDevices},
	{"namespaces", checkNetns},
	{"sysfs", checkSysfs},
	{"memory", checkMemory},
	{"rdma cgroup", checkCgroup},
	{"ports", checkPorts},
	{"GIDs", checkGIDs},
	{"interfaces", checkNetdevs},
	{"CM", checkCM},
	{"GUIDs", checkGUIDs},
	{"fork", checkFork},
	{"data path", checkProvider},
	{"limits", checkLimits},
	{"counters", checkCounters},
}

// Run makes all checks.
func Run(f *Facts) *Report {
	if f.Selected != "" {
		f = f.keep(func(d Device) bool { return d.Name == f.Selected })
	}
	foreign := f.foreign()
	f = f.keep(func(d Device) bool { return !slices.Contains(foreign, d.Name) })
	rep := &Report{Looked: f}
	for _, s := range sections {
		r := Result{Section: s.name}
		s.check(f, &r)
		if s.name == "namespaces" {
			noteForeign(foreign, &r)
		}
		rep.Results = append(rep.Results, r)
	}
	return rep
}

// Findings lists the findings of all sections: errors first, and among equals
// what is most basic.
func (rep *Report) Findings() []Finding {
	var out []Finding
	for _, s := range []Severity{Error, Warning, Note} {
		for _, r := range rep.Results {
			for _, f := range r.Findings {
				if f.Severity == s {
					out = append(out, f)
				}
			}
		}
	}
	return out
}

// ExitCode is 0 without errors, else that of the most basic error.
func (rep *Report) ExitCode() int {
	for _, f := range rep.Findings() {
		if rule, ok := RuleOf(f.ID); ok && f.Severity == Error {
			return rule.Exit
		}
	}
	return 0
}

// Blind lists the sections that could not be read.
func (rep *Report) Blind() (names []string) {
	for _, r := range rep.Results {
		if r.Verdict() == Unknown {
			names = append(names, r.Section)
		}
	}
	return names
}

// Count returns how many findings have a severity.
func (rep *Report) Count(s Severity) int {
	n := 0
	for _, f := range rep.Findings() {
		if f.Severity == s {
			n++
		}
	}
	return n
}
