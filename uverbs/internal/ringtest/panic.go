package ringtest

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// calm are functions elsewhere that do not panic: they wait for a lock, copy memory and
// make a stack larger.
var calm = []string{"(*Latch).Wait", "memmove", "morestack_noctxt"}

// Interface stands for any method of an interface; see CannotPanic.
const Interface = "a method of an interface"

// CannotPanic checks that functions of the package under test, such as (*cq).Poll,
// call nothing but each other and what is calm, in their amd64 code: with that they
// cannot panic, because that is a call, except by a pointer to nowhere. Interface among
// the functions allows calls of interfaces, which are by a register. Where the go tool
// is missing there is nothing to look with.
func CannotPanic(t *testing.T, functions ...string) {
	t.Helper()
	tool, err := exec.LookPath("go")
	if err != nil || runtime.GOARCH != "amd64" {
		t.Skipf("%v; %s", err, runtime.GOARCH)
	}
	archive := filepath.Join(t.TempDir(), "package.a")
	if out, err := exec.Command(tool, "build", "-o", archive, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range functions {
		if f == Interface {
			continue
		}
		code, err := exec.Command(tool, "tool", "objdump", "-s", "[.]"+regexp.QuoteMeta(f)+"$", archive).CombinedOutput()
		if err != nil || !regexp.MustCompile(`(?m)\sRET\s*$`).Match(code) {
			t.Fatalf("no code of %s: %v\n%s", f, err, code)
		}
		for _, line := range strings.Split(string(code), "\n") {
			if called := callee(line); called != "" && !slices.Contains(calm, called) && !slices.Contains(functions, called) {
				t.Errorf("%s calls %s", f, called)
			}
		}
	}
}

// target is the end of a line that calls or jumps to another function: its name, after
// which the runtime's own have a version.
var target = regexp.MustCompile(`(\w+|\(\*\w+\)\.\w+)(<\d+>)?\s*$`)

// callee is what a line of objdump calls, Interface for what is in a register, and ""
// when it calls nothing. A jump into another function is a call too. What cannot be
// read is returned whole, and so is not calm.
func callee(line string) string {
	if !strings.Contains(line, "CALL") {
		return ""
	}
	m := target.FindStringSubmatch(line)
	switch {
	case m == nil:
		return line
	case m[1] == "R_CALLIND":
		return Interface
	}
	return m[1]
}
