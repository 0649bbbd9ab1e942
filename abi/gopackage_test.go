package abi

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// This file looks at the Go side: constants and type names from the package's
// own source, layouts by reflection.

// goPackage is what this package declares.
type goPackage struct {
	types  map[string]reflect.Type
	consts map[string]goConst
}

// goConst is a constant: its value as text, the name of its type ("" when
// untyped) and the file that declares it.
type goConst struct{ value, typ, file string }

// loadPackage reads the source in the current directory and checks that the
// list of mirrored structs is complete.
func loadPackage(t *testing.T) *goPackage {
	t.Helper()
	pkg, fset := checkSource(t)
	p := &goPackage{types: map[string]reflect.Type{}, consts: map[string]goConst{}}
	for _, v := range mirrored {
		rt := reflect.TypeOf(v)
		p.types[rt.Name()] = rt
	}
	for _, name := range pkg.Scope().Names() {
		switch obj := pkg.Scope().Lookup(name).(type) {
		case *types.Const:
			p.consts[name] = goConst{constText(obj), typeName(obj.Type()), filepath.Base(fset.Position(obj.Pos()).Filename)}
		case *types.TypeName:
			_, isStruct := obj.Type().Underlying().(*types.Struct)
			if isStruct && obj.Exported() && p.types[name] == nil {
				t.Errorf("struct %s is not in the list of mirrored structs (mirrored_test.go)", name)
			}
		}
	}
	return p
}

func constText(c *types.Const) string {
	if c.Val().Kind() == constant.String {
		return fmt.Sprintf("%q", constant.StringVal(c.Val()))
	}
	return c.Val().ExactString()
}

func typeName(t types.Type) string {
	if n, ok := t.(*types.Named); ok {
		return n.Obj().Name()
	}
	return ""
}

// checkSource type-checks the package without its function bodies, so that it
// needs nothing of the standard library but structs.HostLayout.
func checkSource(t *testing.T) (*types.Package, *token.FileSet) {
	t.Helper()
	paths, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(fset, path, src, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	conf := types.Config{Importer: stubImporter{}, IgnoreFuncBodies: true}
	pkg, err := conf.Check("abi", fset, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return pkg, fset
}

// stubImporter stands in for the standard library.
type stubImporter struct{}

func (stubImporter) Import(path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	pkg := types.NewPackage(path, filepath.Base(path))
	if path == "structs" {
		name := types.NewTypeName(token.NoPos, pkg, "HostLayout", nil)
		types.NewNamed(name, types.NewStruct(nil, nil), nil)
		pkg.Scope().Insert(name)
	}
	pkg.MarkComplete()
	return pkg, nil
}

// goSlot is the place of a member in a Go struct.
type goSlot struct {
	name   string
	offset uintptr
	typ    reflect.Type
}

// lookup finds the place that t has for a C member: a field, or an accessor
// method of *t that returns a pointer into it.
func lookup(t reflect.Type, name string) (goSlot, bool) {
	if f, ok := t.FieldByName(name); ok {
		return goSlot{name, f.Offset, f.Type}, true
	}
	v := reflect.New(t)
	m := v.MethodByName(name)
	if !m.IsValid() || m.Type().NumIn() != 0 || m.Type().NumOut() != 1 || m.Type().Out(0).Kind() != reflect.Pointer {
		return goSlot{}, false
	}
	got := m.Call(nil)[0]
	return goSlot{name, got.Pointer() - v.Pointer(), got.Type().Elem()}, true
}
