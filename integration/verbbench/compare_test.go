//go:build linux

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parsed(t *testing.T, rounds ...string) *costs {
	t.Helper()
	c := &costs{ns: map[string][]float64{}}
	for _, r := range rounds {
		if err := c.parse([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestTable(t *testing.T) {
	c := parsed(t, "post\t10.0\npoll\t4.0\n", "post\t30.0\npoll\t5.0\n", "post\t20.0\npoll\t4.0\n")
	g := parsed(t, "post\t10.0\npoll\t8.0\n", "post\t10.0\npoll\t9.0\n")
	var out strings.Builder
	if err := table(&out, c, g); err != nil {
		t.Fatal(err)
	}
	want := `nanoseconds  C               Go              Go/C
post         20  (10 to 30)  10  (10 to 10)  0.50
poll         4   (4 to 5)    8   (8 to 9)    2.12
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if table(&out, c, parsed(t, "post\t1\n")) == nil {
		t.Error("different operations compared")
	}
}

func TestParseRefuses(t *testing.T) {
	for _, line := range []string{"post", "post\t", "post\tfast", "post\t0"} {
		if err := (&costs{ns: map[string][]float64{}}).parse([]byte(line)); err == nil {
			t.Errorf("%q accepted", line)
		}
	}
}
