package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cm"
)

// app is one run of the program.
type app struct {
	out    io.Writer // results; goes nowhere when they are to be JSON
	errOut io.Writer
	raw    io.Writer // standard output itself
	json   bool
	sys    system
	doc    document // what the command found out, also when it failed
}

// run executes a command line and returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return runOn(ctx, realSystem(), args, stdout, stderr)
}

// runOn is run on a machine that may be a fake.
func runOn(ctx context.Context, sys system, args []string, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &cancelWriter{w: stdout, cancel: cancel}
	a := &app{out: plainWriter{w}, raw: w, errOut: stderr, json: wantsJSON(args), sys: sys}
	if a.json {
		a.out = io.Discard
	}
	root := newRoot(a)
	root.SetArgs(asVersion(args))
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil && !errors.As(err, new(*commandError)) {
		err = &commandError{command: cmd.CommandPath(), err: asUsage(cmd, err)}
	}
	return a.finishOn(w, cmd.CommandPath(), err)
}

// finishOn reports the outcome, and that output was lost if it was. What else
// went wrong is said first and has the exit code, but for the interruption,
// which the lost output itself has caused.
func (a *app) finishOn(w *cancelWriter, command string, err error) int {
	var e *errorDoc
	if err != nil {
		if e = a.explain(err); w.failure() != nil && e.Class == "interrupted" {
			e = nil
		}
	}
	code := a.finish(e)
	lost := w.failure()
	if lost == nil {
		return code
	}
	if a.json && e != nil { // its document was lost
		e.write(a.errOut)
	}
	a.explain(&commandError{command, &failure{step: "write standard output", err: lost, remedy: lostRemedy}}).write(a.errOut)
	if code == exitOK {
		code = exitFailed
	}
	return code
}

const lostRemedy = "what was printed is not complete: look at the file or device that standard output goes to"

// wantsJSON looks for the flag itself, because the parser stops at the first
// mistake, and mistakes are to be JSON too. It takes the values that the parser
// takes, and the last flag counts, as there.
func wantsJSON(args []string) (wanted bool) {
	for _, arg := range args {
		value, given := strings.CutPrefix(arg, "--json=")
		switch {
		case arg == "--":
			return wanted
		case arg == "--json":
			wanted = true
		case given:
			if v, err := strconv.ParseBool(value); err == nil {
				wanted = v
			}
		}
	}
	return wanted
}

// asVersion makes the command version of --version without a command.
func asVersion(args []string) []string {
	i := slices.Index(args, "--version")
	if i < 0 || slices.ContainsFunc(args, func(s string) bool { return !strings.HasPrefix(s, "-") }) {
		return args
	}
	return append([]string{"version"}, slices.Delete(slices.Clone(args), i, i+1)...)
}

// finish reports the outcome and returns the exit code.
func (a *app) finish(e *errorDoc) int {
	switch {
	case a.json:
		a.writeJSON(e)
	case e != nil:
		e.write(a.errOut)
	}
	if e != nil {
		return e.ExitCode
	}
	return exitOK
}

// writeJSON prints the command's document. Commands that print one document
// for each event leave none.
func (a *app) writeJSON(e *errorDoc) {
	switch {
	case a.doc == nil && e == nil:
		return
	case a.doc == nil:
		a.doc = &failureDoc{}
	}
	a.doc.setError(e)
	a.printDoc(a.doc)
}

// printDoc prints one JSON document. A failed write has ended the run already.
func (a *app) printDoc(doc any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	switch doc.(type) {
	case *serveDoc, *watchDoc, *benchServeDoc: // one line for each event
	default:
		enc.SetIndent("", "  ")
	}
	if enc.Encode(doc) == nil {
		_, _ = a.raw.Write(plainJSON(b.Bytes()))
	}
}

// printf prints results for people.
func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }

// cancelWriter ends the run when its reader has gone, as with a pipe to head.
type cancelWriter struct {
	mu     sync.Mutex
	w      io.Writer
	cancel context.CancelCauseFunc
	err    error // of the first write that failed
}

var errOutputClosed = errors.New("standard output was closed")

func (w *cancelWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.w.Write(p)
	if err != nil {
		w.cancel(errOutputClosed)
		if w.err == nil {
			w.err = err
		}
	}
	return n, err
}

// failure returns why results are lost. A reader who has seen enough is no
// reason to fail.
func (w *cancelWriter) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if errors.Is(w.err, syscall.EPIPE) {
		return nil
	}
	return w.err
}

// newRoot makes the command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "rdmaprobe",
		Short: "Show whether RDMA works here, and if not why",
		Long: `rdmaprobe shows whether RDMA works here, and if not why. It needs nothing but
the kernel: no C library, no other program, no file.

Exit codes: 0 ok, 1 check failed, 2 usage, 3 no device, 4 permission,
5 unreachable or time-out, 6 rejected.`,
		Example:           "  rdmaprobe demo\n  rdmaprobe list --json",
		SilenceUsage:      true,
		SilenceErrors:     true,
		DisableAutoGenTag: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.PersistentFlags().Bool("json", false, "print JSON instead of text, for failures too")
	root.Flags().Bool("version", false, "the same as the command version")
	hiddenFlags(root)
	root.SetOut(a.raw)
	root.SetErr(a.errOut)
	root.SetHelpCommand(newHelp())
	root.SetUsageTemplate(narrowUsage(root.UsageTemplate()))
	root.AddCommand(newList(a), newGIDs(a), newDoctor(a), newExplain(a), newPath(a), newRXE(a), newServe(a), newPing(a), newCMPing(a), newRes(a), newWatch(a), newBench(a), newDemo(a), newVersion(a))
	takeSeconds(root)
	return root
}

// newHelp stands in for the library's help command, which succeeds for
// commands that do not exist.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return usagef("no such command: %s", strings.Join(args, " "))
			}
			return about.Help()
		},
	}
}

// action makes a command's function: what it returns is a failure of the
// command, and not of its arguments.
func action(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		err := f(cmd, args)
		if err == nil || errors.As(err, new(*usageError)) {
			return err
		}
		return &commandError{command: cmd.CommandPath(), err: err}
	}
}

// needOne wants exactly one argument, and says what it is.
func needOne(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch len(args) {
		case 0:
			return usagef("%s is missing", what)
		case 1:
			return nil
		}
		return usagef("one argument is wanted, %s, and not %d", what, len(args))
	}
}

// usageError is a mistake in the command line.
type usageError struct {
	msg    string
	remedy string
}

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error { return &usageError{msg: fmt.Sprintf(format, args...)} }

// commandError is what went wrong in which command.
type commandError struct {
	command string
	err     error
}

func (e *commandError) Error() string { return e.err.Error() }
func (e *commandError) Unwrap() error { return e.err }

// explain turns any error into what users see.
func (a *app) explain(err error) *errorDoc {
	e := describe(err)
	var ce *commandError
	if errors.As(err, &ce) {
		e.Command = ce.command
	}
	if w, ok := wayOf(err); ok && !a.blameHere(e, w) {
		if s, ok := silenceOf(err); ok && e.Class == "timeout" {
			s.explain(e, a.protocolOf(s.device))
		}
	}
	if e.Class == "no-device" && errors.Is(err, cm.ErrNoDevice) {
		a.addFullTables(e)
	}
	if e.Class == "address-in-use" {
		a.addHolders(e, err)
	}
	if e.Class == "usage" && e.Remedy == "" {
		e.Remedy = e.Command + " --help"
	}
	// Documents with findings have these already.
	if _, has := a.doc.(interface{ hasFindings() }); e.ExitCode == exitNoDevice && !has {
		diag := a.sys.diagnose()
		for _, f := range diag.Findings {
			e.Findings = append(e.Findings, newFindingDoc(f))
		}
		if len(diag.Devices) > 0 || len(diag.Findings) == 0 || e.Remedy != remedies["no-device"] {
			return e
		}
		e.Remedy = "what is missing is listed with its remedies; begin with the first"
	}
	return e
}
