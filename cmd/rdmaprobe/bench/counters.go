package bench

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/uverbs"
)

// watched are parts of the names of counters that should not move during a
// measurement.
var watched = []string{"retry", "rnr", "out_of_seq", "seq_err", "timeout", "discard", "duplicate", "dropped", "cnp"}

// errorCounters reads such counters of a device's ports; those that cannot be
// read are left out.
func errorCounters(d *uverbs.Device) map[string]uint64 {
	out := map[string]uint64{}
	for _, p := range d.Ports {
		for _, kind := range []string{"counters", "hw_counters"} {
			dir := filepath.Join("/sys/class/infiniband", d.Name, "ports", strconv.Itoa(p.Number), kind)
			files, err := os.ReadDir(dir)
			if err != nil {
				continue
			}
			for _, f := range files {
				if v, ok := readCounter(dir, f.Name()); ok {
					out[f.Name()] += v
				}
			}
		}
	}
	return out
}

func readCounter(dir, name string) (uint64, bool) {
	for _, part := range watched {
		if strings.Contains(name, part) {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				return 0, false
			}
			v, err := strconv.ParseUint(strings.TrimSpace(string(b)), 10, 64)
			return v, err == nil
		}
	}
	return 0, false
}

// moved is what grew.
func moved(before, after map[string]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for name, v := range after {
		if was, ok := before[name]; ok && v > was {
			out[name] = v - was
		}
	}
	return out
}
