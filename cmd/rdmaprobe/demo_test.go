package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestDemoCleanUp: everything made is taken back, the last thing first, also
// when one step of it fails.
func TestDemoCleanUp(t *testing.T) {
	for _, fail := range []string{"", "second"} {
		var done []string
		a := &app{out: &strings.Builder{}, sys: rxeWorld().system()}
		d := &demo{app: a, doc: &demoDoc{}}
		for _, what := range []string{"first", "second", "third"} {
			d.undo = append(d.undo, undoStep{what, func(context.Context) error {
				done = append(done, what)
				if what == fail {
					return errors.New("no")
				}
				return nil
			}})
		}
		err := d.cleanUp()
		if want := []string{"third", "second", "first"}; !slices.Equal(done, want) {
			t.Errorf("order %v, want %v", done, want)
		}
		if d.doc.Clean != (fail == "") || (err == nil) != (fail == "") {
			t.Errorf("failing %q: clean %v, error %v", fail, d.doc.Clean, err)
		}
	}
}

func TestDemoJSON(t *testing.T) {
	r := rxeWorld().command(t, "demo", "--device", "rxe0", "-C", "7", "--json")
	wantCode(t, r, exitOK)
	validate(t, "demo", []byte(r.stdout))
	var d demoDoc
	if err := json.Unmarshal([]byte(r.stdout), &d); err != nil {
		t.Fatal(err)
	}
	if d.Sent != 7 || d.Verified != 7 || !d.Clean || d.Created || len(d.Steps) == 0 {
		t.Errorf("document %+v", d)
	}
}

// TestDemoMismatch: data that comes back wrong is a failed check.
func TestDemoMismatch(t *testing.T) {
	w := rxeWorld()
	w.corrupt = func(b []byte) { b[0]++ }
	r := w.command(t, "demo", "--device", "rxe0")
	wantCode(t, r, exitFailed)
	if !strings.Contains(r.stdout, "RDMA did not work here") || !strings.Contains(r.stderr, "data mismatch") {
		t.Errorf("output:\n%s%s", r.stdout, r.stderr)
	}
}
