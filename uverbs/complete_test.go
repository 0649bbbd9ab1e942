package uverbs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// unused are the methods and commands of the kernel that this package does not
// use, and why.
var unused = map[string]string{
	"UVERBS_METHOD_INFO_HANDLES":           "lists the handles of a context; this package knows what it created",
	"UVERBS_METHOD_DMABUF_ALLOC":           "exports pages of the device, which drivers with a data path here do not have",
	"UVERBS_METHOD_FLOW_ACTION_ESP_CREATE": "no driver of Linux 7.3 has it",
	"UVERBS_METHOD_FLOW_ACTION_ESP_MODIFY": "no driver of Linux 7.3 has it",
	"UVERBS_METHOD_FLOW_ACTION_DESTROY":    "no driver of Linux 7.3 has it",

	"IB_USER_VERBS_CMD_MODIFY_AH":     "no kernel has it",
	"IB_USER_VERBS_CMD_QUERY_AH":      "no kernel has it",
	"IB_USER_VERBS_CMD_REG_SMR":       "no kernel has it",
	"IB_USER_VERBS_CMD_QUERY_MR":      "no kernel has it; the native method has",
	"IB_USER_VERBS_CMD_BIND_MW":       "no kernel has it; a request binds",
	"IB_USER_VERBS_CMD_PEEK_CQ":       "no kernel has it",
	"IB_USER_VERBS_CMD_POLL_CQ":       "completions are read from rings",
	"IB_USER_VERBS_CMD_POST_RECV":     "receives are written to rings",
	"IB_USER_VERBS_CMD_POST_SRQ_RECV": "receives are written to rings",
	"IB_USER_VERBS_CMD_FLAG_EXTENDED": "a flag",
	"IB_USER_VERBS_CMD_COMMAND_MASK":  "a mask",
	"IB_USER_VERBS_CMD_THRESHOLD":     "a limit",
}

// TestKernelIsComplete: each method and command that the kernel's headers name is
// used, or listed above with the reason.
func TestKernelIsComplete(t *testing.T) {
	used, unused := usedConstants(t), maps.Clone(unused) // which a second run wants whole
	names := regexp.MustCompile(`^(UVERBS_METHOD|IB_USER_VERBS(_EX)?_CMD)_`)
	n := 0
	for _, name := range constants(t, "../abi") {
		if !names.MatchString(name) {
			continue
		}
		n++
		switch why := unused[name]; {
		case used[name] && why != "" && name != "IB_USER_VERBS_CMD_FLAG_EXTENDED":
			t.Errorf("%s is used, and listed as unused", name)
		case !used[name] && why == "":
			t.Errorf("%s is not used", name)
		}
		delete(unused, name)
	}
	for name := range unused {
		t.Errorf("%s is no constant of package abi", name)
	}
	if n < 80 {
		t.Errorf("only %d constants", n)
	}
}

// constants returns the names of a package's constants.
func constants(t *testing.T, dir string) (names []string) {
	t.Helper()
	for _, path := range sources(t, dir) {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				for _, id := range s.(*ast.ValueSpec).Names {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// usedConstants are those of package abi that this package names.
func usedConstants(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	ref := regexp.MustCompile(`\babi\.(\w+)`)
	for _, path := range sources(t, ".") {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ref.FindAllStringSubmatch(string(b), -1) {
			used[m[1]] = true
		}
	}
	return used
}

func sources(t *testing.T, dir string) (paths []string) {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		if !strings.HasSuffix(p, "_test.go") {
			paths = append(paths, p)
		}
	}
	return paths
}
