package docs

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// packages are those that a document may name, and their folders.
var packages = map[string]string{
	"abi": "../abi", "cm": "../cm", "ucma": "../ucma", "uverbs": "../uverbs",
	"integration": "../integration", "rxe": "../uverbs/internal/rxe", "siw": "../uverbs/internal/siw",
}

var (
	fence     = regexp.MustCompile("(?s)```.*?```")
	span      = regexp.MustCompile("`([^`\n]+)`")
	qualified = regexp.MustCompile(`^(\w+)\.([A-Z]\w*(?:\.[A-Z]\w*)?)$`)
	testName  = regexp.MustCompile(`(\w+\.)?\bTest[A-Z]\w*`)
	rowKey    = regexp.MustCompile("^(?:`[a-z][a-z_0-9]+`(?:, )?)+$|^[0-9]+$")
)

func read(t *testing.T, document string) string {
	t.Helper()
	b, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// checkNames looks up what a document names in the form package.Name, at least
// so many, and that tests are named in this form.
func checkNames(t *testing.T, document string, least int) {
	t.Helper()
	text := fence.ReplaceAllString(read(t, document), "")
	known := map[string]map[string]bool{}
	for name, dir := range packages {
		known[name] = declarations(t, dir)
	}
	n := 0
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		q := qualified.FindStringSubmatch(m[1])
		if q == nil {
			continue
		}
		n++
		switch names, ok := known[q[1]]; {
		case q[1] == "errors" || q[1] == "net": // of the standard library
		case !ok:
			t.Errorf("%s: unknown package", m[1])
		case !names[q[2]]:
			t.Errorf("%s does not exist", m[1])
		}
	}
	if n < least {
		t.Errorf("only %d names found", n)
	}
	for _, m := range testName.FindAllString(text, -1) {
		if !strings.Contains(m, ".") || !strings.Contains(text, "`"+m+"`") {
			t.Errorf("%s is not in the form `package.Test`", m)
		}
	}
}

// checkRows looks for one row for each key: a C symbol, several separated by
// commas, or a number in the first cell. check gets the cells of each row.
func checkRows(t *testing.T, document string, want map[string]int, check func(row []string)) {
	t.Helper()
	got := map[string]int{}
	for line := range strings.Lines(read(t, document)) {
		row := strings.Split(strings.Trim(line, "| \n"), " | ")
		keys := strings.FieldsFunc(row[0], func(r rune) bool { return strings.ContainsRune("`, ", r) })
		if !strings.HasPrefix(line, "| ") || !rowKey.MatchString(row[0]) {
			continue
		}
		for _, key := range keys {
			got[key]++
		}
		check(row)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// checkCode wants functions of a file in the document, as they are.
func checkCode(t *testing.T, document, file string, names ...string) {
	t.Helper()
	source, text := read(t, file), read(t, document)
	for _, name := range names {
		_, code, _ := strings.Cut(source, "\nfunc "+name)
		code, _, _ = strings.Cut(code, "\n}\n")
		if !strings.Contains(text, "```go\nfunc "+name+code+"\n}\n```\n") {
			t.Errorf("the function %s of %s differs from that of %s", name, document, file)
		}
	}
}

func count(keys ...string) map[string]int {
	n := map[string]int{}
	for _, key := range keys {
		n[key]++
	}
	return n
}

// declarations returns the names of a folder: Name, Type.Method and Type.Field
// of the package, and the functions of its tests. It looks at the files of all
// systems.
func declarations(t *testing.T, dir string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", dir, len(files), err)
	}
	names := map[string]bool{}
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		inTest := strings.HasSuffix(file, "_test.go")
		for _, d := range f.Decls {
			for _, name := range declared(d) {
				if !inTest || strings.HasPrefix(name, "Test") {
					names[name] = true
				}
			}
		}
	}
	return names
}

func declared(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{method(d)}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, id := range s.Names {
					names = append(names, id.Name)
				}
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
				if st, ok := s.Type.(*ast.StructType); ok {
					names = append(names, fields(s.Name.Name, st)...)
				}
			}
		}
	}
	return names
}

func method(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return d.Name.Name
	}
	typ := d.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	return fmt.Sprintf("%s.%s", typ, d.Name.Name)
}

func fields(typ string, st *ast.StructType) (names []string) {
	for _, f := range st.Fields.List {
		for _, id := range f.Names {
			names = append(names, typ+"."+id.Name)
		}
	}
	return names
}
