package cm

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestCallsOfConnection: what both ends of a connection together ask of a device
// that is open already, from dial to the end. A protection domain and a
// registration of their own are the price of isolation (docs/benchmarks.md); with a
// shared domain at one end, that end asks for none.
func TestCallsOfConnection(t *testing.T) {
	r := newRig(t)
	pd := r.openPD() // the device stays open
	l := r.listen(nil)
	for name, tc := range map[string]struct {
		cfg *Config
		pds int
	}{"own domains": {quick, 2}, "one shared": {sharing(pd), 1}} {
		t.Run(name, func(t *testing.T) {
			r.pair(l, &Dialer{Config: quick}) // the first completion queue stays too
			before := len(r.verbs.Calls())
			client, server := r.pair(l, &Dialer{Config: tc.cfg})
			for _, c := range []*Conn{client, server} {
				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
			got := make(map[string]int)
			for _, c := range slices.Clone(r.verbs.Calls()[before:]) {
				got[c]++
			}
			want := map[string]int{
				"QP_CREATE": 2, "MODIFY_QP": 6, "QP_DESTROY": 2, "mmap": 4, // rings
				"REG_MR": 2, "MR_DESTROY": 2,
				"ALLOC_PD": tc.pds, "PD_DESTROY": tc.pds,
			}
			if !maps.Equal(got, want) {
				t.Error(cmp.Diff(want, got))
			}
		})
	}
}
