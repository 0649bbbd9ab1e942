package main

import (
	"math"
	"strconv"
	"strings"
)

var sizeUnits = []struct {
	name  string
	bytes float64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"kB", 1e3},
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10}, {"k", 1 << 10}, {"B", 1},
}

// parseSize reads a number of bytes such as 4096, 64K, 4GiB or 1.5GB.
func parseSize(s string) (uint64, error) {
	number, unit := strings.TrimSpace(s), 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || math.IsNaN(v) || v*unit >= 1<<63 || strings.ContainsAny(number, "xXpPeE_") {
		return 0, &usageError{msg: "size " + strconv.Quote(s) + ": not a number of bytes", remedy: "write it like 4096, 64KiB or 4GiB"}
	}
	return uint64(v * unit), nil
}
