package abi

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// This file asks the C compiler. It writes a program that includes the real
// headers and prints size, alignment, offsets and values, and reads its output.

// headersEnv names the include directory (the one that holds rdma/) of the
// newest kernel's headers.
const headersEnv = "RDMA_UAPI_HEADERS"

// measured is what the C compiler says.
type measured struct {
	aggregates map[string]cSize // by "struct tag"
	members    map[string]cSlot // by "struct tag.member.member"
	constants  map[string]string
}

type cSize struct{ size, align uintptr }

// cSlot is the place of a member; elem is the size of one element of an array,
// else the size of the member.
type cSlot struct{ offset, size, elem uintptr }

// probeSource writes the C program for the names in h.
func probeSource(headers []string, h *cHeader) string {
	var b strings.Builder
	b.WriteString("#include <stdio.h>\n#include <stddef.h>\n#include <linux/netlink.h>\n")
	for _, name := range headers {
		fmt.Fprintf(&b, "#include <%s>\n", name)
	}
	b.WriteString("int main(void)\n{\n")
	for _, a := range h.aggregates {
		c := a.kind + " " + a.tag
		fmt.Fprintf(&b, `printf("T\t%s\t%%zu\t%%zu\n", sizeof(%s), _Alignof(%s));`+"\n", c, c, c)
		probeMembers(&b, c, "", a.members)
	}
	for _, name := range h.constants() {
		fmt.Fprintf(&b, `if ((%s) < 0) printf("C\t%s\t%%lld\n", (long long)(%s)); else printf("C\t%s\t%%llu\n", (unsigned long long)(%s));`+"\n",
			name, name, name, name, name)
	}
	for _, name := range h.strings() {
		fmt.Fprintf(&b, `printf("C\t%s\t\"%%s\"\n", %s);`+"\n", name, name)
	}
	b.WriteString("return 0;\n}\n")
	return b.String()
}

func probeMembers(b *strings.Builder, aggregate, path string, members []cMember) {
	for _, m := range members {
		switch {
		case m.flexible:
			continue
		case m.name == "":
			probeMembers(b, aggregate, path, m.inline.members)
			continue
		}
		full := path + m.name
		expr := fmt.Sprintf("((%s *)0)->%s", aggregate, full)
		elem := expr
		if m.array {
			elem += "[0]"
		}
		fmt.Fprintf(b, `printf("M\t%s.%s\t%%zu\t%%zu\t%%zu\n", offsetof(%s, %s), sizeof(%s), sizeof(%s));`+"\n",
			aggregate, full, aggregate, full, expr, elem)
		if m.inline != nil {
			probeMembers(b, aggregate, full+".", m.inline.members)
		}
	}
}

// parseProbe reads the output of the C program.
func parseProbe(out string) (*measured, error) {
	m := &measured{map[string]cSize{}, map[string]cSlot{}, map[string]string{}}
	for line := range strings.Lines(out) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 3 {
			return nil, fmt.Errorf("cannot read line %q", line)
		}
		var size cSize
		var slot cSlot
		var err error
		rest := strings.Join(f[2:], " ")
		switch f[0] {
		case "T":
			_, err = fmt.Sscan(rest, &size.size, &size.align)
			m.aggregates[f[1]] = size
		case "M":
			_, err = fmt.Sscan(rest, &slot.offset, &slot.size, &slot.elem)
			m.members[f[1]] = slot
		case "C":
			m.constants[f[1]] = rest
		default:
			err = errors.New("unknown kind")
		}
		if err != nil {
			return nil, fmt.Errorf("line %q: %w", line, err)
		}
	}
	return m, nil
}

// runProbe compiles and runs a program against the headers in dir.
func runProbe(t *testing.T, cc, dir, source string) string {
	t.Helper()
	tmp := t.TempDir()
	src, bin := filepath.Join(tmp, "probe.c"), filepath.Join(tmp, "probe")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"-w", "-I", dir}
	if sub := asmDir(dir); sub != "" {
		args = append(args, "-I", sub)
	}
	cmd := exec.CommandContext(t.Context(), cc, append(args, "-o", bin, src)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s against %s: %v\n%s", cc, dir, err, out)
	}
	out, err := exec.CommandContext(t.Context(), bin).Output()
	if err != nil {
		t.Fatalf("C program: %v", err)
	}
	return string(out)
}

// asmDir returns the directory with asm/ for this machine where Debian keeps it
// apart from the other headers, else "".
func asmDir(dir string) string {
	triple := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if triple == "" {
		triple = runtime.GOARCH
	}
	sub := filepath.Join(dir, triple+"-linux-gnu")
	if _, err := os.Stat(sub); err != nil {
		return ""
	}
	return sub
}

// findHeaders returns the directory of the headers and whether they are to match
// this package in both directions. It skips the test when there are none.
func findHeaders(t *testing.T) (dir, cc string, exact bool) {
	t.Helper()
	dir, exact = os.LookupEnv(headersEnv)
	if !exact {
		dir = "/usr/include"
	}
	if _, err := os.Stat(filepath.Join(dir, "rdma", "rdma_user_cm.h")); err != nil {
		if exact {
			t.Fatalf("%s: %v", headersEnv, err)
		}
		t.Skip("no RDMA headers in /usr/include: install linux-libc-dev (Debian, Ubuntu) or kernel-headers (Fedora), or set " + headersEnv)
	}
	cc, err := exec.LookPath("cc")
	if err != nil {
		if exact {
			t.Fatalf("%s is set but there is no C compiler: %v", headersEnv, err)
		}
		t.Skip("no C compiler: install gcc and libc6-dev")
	}
	return dir, cc, exact
}

func TestParseProbe(t *testing.T) {
	m, err := parseProbe("T\tstruct a\t16\t8\nM\tstruct a.b.c\t8\t4\t2\nC\tX\t-1\nC\tS\t\"two words\"\n")
	if err != nil {
		t.Fatal(err)
	}
	if m.aggregates["struct a"] != (cSize{16, 8}) || m.members["struct a.b.c"] != (cSlot{8, 4, 2}) ||
		m.constants["X"] != "-1" || m.constants["S"] != `"two words"` {
		t.Errorf("got %+v", m)
	}
	for _, bad := range []string{"T\tstruct a\tx\t8\n", "Z\ta\t1\n", "noise\n"} {
		if _, err := parseProbe(bad); err == nil {
			t.Errorf("parseProbe(%q) succeeded", bad)
		}
	}
}
