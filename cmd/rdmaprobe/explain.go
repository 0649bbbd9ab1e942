package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/docs"
)

func newExplain(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [ID...]",
		Short: "Tell what a finding of doctor means",
		Long: `explain prints what findings of doctor mean, by their ids, in capitals or not.
Without an id it lists them all. It looks at nothing on this machine, and works
without RDMA.`,
		Example: "  rdmaprobe explain RP-MEM-001\n  rdmaprobe explain",
		RunE:    action(func(_ *cobra.Command, ids []string) error { return a.explainFindings(ids) }),
	}
}

// An explainDoc is what explain prints.
type explainDoc struct {
	Findings []explainedDoc `json:"findings" doc:"those asked for, or all"`
	outcome
}

type explainedDoc struct {
	ID       string `json:"id" doc:"stable name of the finding"`
	Severity string `json:"severity" doc:"error, warning or note"`
	ExitCode int    `json:"exit_code" doc:"exit code of doctor when this is its most basic error; 0 for a warning or a note"`
	Meaning  string `json:"meaning" doc:"one line"`
	Text     string `json:"text" doc:"cause and remedy, as Markdown"`
}

func (a *app) explainFindings(ids []string) error {
	doc := &explainDoc{Findings: []explainedDoc{}}
	a.doc = doc
	for _, r := range doctor.Rules {
		if len(ids) == 0 {
			doc.Findings = append(doc.Findings, explained(r))
		}
	}
	for _, id := range ids {
		r, ok := ruleOf(id)
		if !ok {
			return usagef("there is no finding %q: rdmaprobe explain lists them all", plain.Text(id))
		}
		doc.Findings = append(doc.Findings, explained(r))
	}
	if len(ids) == 0 {
		doc.writeList(a)
		return nil
	}
	doc.write(a)
	return nil
}

func ruleOf(id string) (doctor.Rule, bool) {
	for _, r := range doctor.Rules {
		if strings.EqualFold(r.ID, id) {
			return r, true
		}
	}
	return doctor.Rule{}, false
}

func explained(r doctor.Rule) explainedDoc {
	return explainedDoc{ID: r.ID, Severity: string(r.Severity), ExitCode: r.Exit, Meaning: r.Title, Text: section(r.ID)}
}

// section returns what follows the heading of an id in docs/findings.md.
func section(id string) string {
	_, text, _ := strings.Cut(docs.Findings, "\n### "+id+"\n")
	text, _, _ = strings.Cut(text, "\n##")
	return strings.TrimSpace(text)
}

func (doc *explainDoc) write(a *app) {
	paint := a.painter()
	for i, f := range doc.Findings {
		if i > 0 {
			a.printf("\n")
		}
		a.printf("%s %s %s\n", paint(severityColour(f.Severity), f.Severity), f.ID, f.Meaning)
		for paragraph := range strings.SplitSeq(f.Text, "\n\n") {
			a.printf("\n%s\n", wrap(paragraph, 0))
		}
		if f.ExitCode != 0 {
			a.printf("\nexit code of doctor: %d\n", f.ExitCode)
		}
	}
}

func (doc *explainDoc) writeList(a *app) {
	rows := [][]string{{"ID", "SEVERITY", "EXIT", "MEANING"}}
	for _, f := range doc.Findings {
		exit := ""
		if f.ExitCode != 0 {
			exit = fmt.Sprint(f.ExitCode)
		}
		rows = append(rows, []string{f.ID, f.Severity, exit, f.Meaning})
	}
	columns(a.out, rows)
}
