package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/purerdma/rdma/docs/schema"
)

// docFolder is where the descriptions of the JSON are.
const docFolder = "../../docs"

// documents are the kinds of output, by the name of their schema.
var documents = []struct {
	name, title string
	doc         any
}{
	{"list", "rdmaprobe list", listDoc{}},
	{"gids", "rdmaprobe gids", gidsDoc{}},
	{"doctor", "rdmaprobe doctor", doctorDoc{}},
	{"path", "rdmaprobe path", pathDoc{}},
	{"rxe", "rdmaprobe rxe add and rxe del", rxeDoc{}},
	{"rxe-list", "rdmaprobe rxe list", rxeListDoc{}},
	{"serve", "rdmaprobe serve: one line for each event", serveDoc{}},
	{"ping", "rdmaprobe ping", pingDoc{}},
	{"cmping", "rdmaprobe cmping", cmpingDoc{}},
	{"res", "rdmaprobe res", resDoc{}},
	{"watch", "rdmaprobe watch: one line for each change", watchDoc{}},
	{"bench", "rdmaprobe bench lat and bench bw", benchDoc{}},
	{"bench-conn", "rdmaprobe bench conn", benchConnDoc{}},
	{"bench-reg", "rdmaprobe bench reg", benchRegDoc{}},
	{"bench-serve", "rdmaprobe bench serve: one line for each event", benchServeDoc{}},
	{"demo", "rdmaprobe demo", demoDoc{}},
	{"version", "rdmaprobe version", versionDoc{}},
	{"explain", "rdmaprobe explain", explainDoc{}},
	{"error", "any command whose arguments were not understood", failureDoc{}},
}

func schemaOf(t reflect.Type) *schema.Schema {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return &schema.Schema{Type: "string", Format: "date-time"}
	case t.Kind() == reflect.Pointer:
		return schemaOf(t.Elem())
	}
	switch t.Kind() {
	case reflect.String:
		return &schema.Schema{Type: "string"}
	case reflect.Bool:
		return &schema.Schema{Type: "boolean"}
	case reflect.Float64:
		return &schema.Schema{Type: "number"}
	case reflect.Int, reflect.Uint32, reflect.Uint64:
		return &schema.Schema{Type: "integer"}
	case reflect.Slice:
		return &schema.Schema{Type: "array", Items: schemaOf(t.Elem())}
	case reflect.Struct:
		no := false
		s := &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{}, Additional: &no}
		addFields(s, t)
		return s
	}
	panic(fmt.Sprintf("no schema for %v", t))
}

// addFields fills the properties of an object, those of embedded structs too.
func addFields(s *schema.Schema, t reflect.Type) {
	for f := range t.Fields() {
		if f.Anonymous {
			addFields(s, f.Type)
			continue
		}
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := schemaOf(f.Type)
		p.Description = f.Tag.Get("doc")
		if name == "" || p.Description == "" {
			panic(fmt.Sprintf("%v.%s lacks a tag", t, f.Name))
		}
		s.Properties[name] = p
		s.Order = append(s.Order, name)
		if options != "omitempty" {
			s.Required = append(s.Required, name)
		}
	}
}

// validate checks output against the schema file of that name.
func validate(t *testing.T, name string, doc []byte) {
	t.Helper()
	if err := schema.Check(name, doc); err != nil {
		t.Errorf("%v\n%s", err, doc)
	}
}

// validateFailure accepts the general failure document as well.
func validateFailure(t *testing.T, name string, doc []byte) {
	t.Helper()
	if schema.Check("error", doc) == nil {
		return
	}
	validate(t, name, doc)
}

// TestSchemas keeps docs/schema in step with the types.
func TestSchemas(t *testing.T) {
	for _, d := range documents {
		s := schemaOf(reflect.TypeOf(d.doc))
		s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", d.title
		text, err := json.MarshalIndent(s, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		golden(t, filepath.Join(docFolder, "schema", d.name+".json"), string(text)+"\n")
	}
}

var fieldTables = regexp.MustCompile(`(?s)(<!-- fields: ([a-z-]+) -->\n).*?(<!-- end -->)`)

// TestTables keeps the tables of docs/json.md in step with the types.
func TestTables(t *testing.T) {
	path := filepath.Join(docFolder, "json.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	got := fieldTables.ReplaceAllStringFunc(string(text), func(block string) string {
		m := fieldTables.FindStringSubmatch(block)
		seen[m[2]] = true
		for _, d := range documents {
			if d.name == m[2] {
				return m[1] + fieldTable(reflect.TypeOf(d.doc)) + m[3]
			}
		}
		t.Errorf("json.md has a table for %q", m[2])
		return block
	})
	for _, d := range documents {
		if !seen[d.name] {
			t.Errorf("json.md lacks a table for %q", d.name)
		}
	}
	golden(t, path, got)
}

func fieldTable(t reflect.Type) string {
	var b strings.Builder
	b.WriteString("| field | type | meaning |\n|---|---|---|\n")
	writeFields(&b, "", schemaOf(t))
	return b.String()
}

func writeFields(b *strings.Builder, prefix string, s *schema.Schema) {
	for _, name := range s.Order {
		p := s.Properties[name]
		kind, inner := p.Type, p
		if p.Type == "array" {
			kind, inner = "array of "+p.Items.Type, p.Items
		}
		fmt.Fprintf(b, "| `%s%s` | %s | %s |\n", prefix, name, kind, p.Description)
		if inner.Type == "object" && (name != "error" || prefix == "" && len(s.Order) == 1) {
			mark := "."
			if p.Type == "array" {
				mark = "[]."
			}
			writeFields(b, prefix+name+mark, inner)
		}
	}
}

// TestJSON runs each command on a machine with RDMA and on one without, and
// validates what it prints.
func TestJSON(t *testing.T) {
	for _, tt := range []struct {
		schema, args string
		good, none   int
	}{
		{"list", "list", exitOK, exitNoDevice},
		{"gids", "gids", exitOK, exitNoDevice},
		{"gids", "gids --to 10.0.0.7", exitOK, exitNoDevice},
		{"doctor", "doctor", exitNoDevice, exitNoDevice},
		{"doctor", "doctor --pod --need 64MiB", exitNoDevice, exitNoDevice},
		{"path", "path 10.0.0.7", exitOK, exitNoDevice},
		{"rxe", "rxe add eth9", exitOK, exitNoDevice},
		{"rxe", "rxe del rxe0", exitOK, exitNoDevice},
		{"rxe-list", "rxe list", exitOK, exitNoDevice},
		{"ping", "ping 10.0.0.7", exitRejected, exitNoDevice},
		{"cmping", "cmping 10.0.0.7 -C 1", exitOK, exitNoDevice},
		{"res", "res", exitOK, exitNoDevice},
		{"bench", "bench lat 10.0.0.7 --size 2,64", exitOK, exitNoDevice},
		{"bench", "bench bw 10.0.0.7 --op read --interval 1s", exitOK, exitNoDevice},
		{"bench-conn", "bench conn 10.0.0.7", exitRejected, exitNoDevice},
		{"bench-reg", "bench reg --size 4K", exitOK, exitNoDevice},
		{"demo", "demo --device rxe0 -C 2", exitOK, exitNoDevice},
		{"version", "version", exitOK, exitOK},
		{"version", "--version", exitOK, exitOK},
		{"explain", "explain", exitOK, exitOK},
		{"explain", "explain RP-MEM-001 rp-gid-001", exitOK, exitOK},
	} {
		t.Run(tt.args, func(t *testing.T) {
			args := append(strings.Fields(tt.args), "--json")
			r := rxeWorld().command(t, args...)
			wantCode(t, r, tt.good)
			validate(t, tt.schema, []byte(r.stdout))
			r = emptyWorld().command(t, args...)
			wantCode(t, r, tt.none)
			validate(t, tt.schema, []byte(r.stdout))
			if r.stderr != "" {
				t.Errorf("standard error: %s", r.stderr)
			}
		})
	}
	r := emptyWorld().command(t, "serve", "--json")
	wantCode(t, r, exitNoDevice)
	validate(t, "serve", []byte(r.stdout))
	for _, args := range []string{"--json", "bogus --json", "--json rxe", "rxe add --json", "list x --json"} {
		r := rxeWorld().command(t, strings.Fields(args)...)
		if args != "--json" {
			wantCode(t, r, exitUsage)
			validate(t, "error", []byte(r.stdout))
		}
	}
}

// TestHelp: every command has an example, and a line that says what it does; no
// line is longer than a terminal.
func TestHelp(t *testing.T) {
	root := newRoot(&app{})
	for _, c := range append(root.Commands(), root) {
		for _, c := range append(c.Commands(), c) {
			if c.Example == "" || c.Short == "" {
				t.Errorf("%s: no example or no short text", c.CommandPath())
			}
			args := strings.Fields(c.CommandPath())[1:]
			r := emptyWorld().command(t, append(args, "--help")...)
			wantCode(t, r, exitOK)
			wantNarrow(t, r)
		}
	}
}

// TestWantsJSON: the values that the parser takes for true, and the last flag counts.
func TestWantsJSON(t *testing.T) {
	for args, want := range map[string]bool{
		"list": false, "list --json": true, "list --json=1": true, "list --json=true": true, "list --json=T": true,
		"list --json=0": false, "list --json=false": false, "list --json --json=false": false, "list --json=false --json": true,
		"list -- --json": false, "list --jsonx": false, "list --json=maybe": false,
	} {
		if got := wantsJSON(strings.Fields(args)); got != want {
			t.Errorf("%s: %v, want %v", args, got, want)
		}
		r := rxeWorld().command(t, strings.Fields(args)...)
		if got := strings.HasPrefix(r.stdout, "{"); got != want {
			t.Errorf("%s prints\n%s", args, r.both())
		}
	}
}
