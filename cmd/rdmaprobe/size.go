package main

import (
	"fmt"
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
	{"T", 1 << 40}, {"G", 1 << 30}, {"M", 1 << 20}, {"K", 1 << 10},
	{"t", 1 << 40}, {"g", 1 << 30}, {"m", 1 << 20}, {"k", 1 << 10}, {"B", 1},
}

const sizeRemedy = "write it like 4096, 64K, 64KiB or 4GiB"

// parseSize reads a number of bytes such as 4096, 64K, 4GiB or 1.5GB. Every
// command takes sizes through it.
func parseSize(s string) (uint64, error) {
	number, unit := strings.TrimSpace(s), 1.0
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.name); ok {
			number, unit = strings.TrimSpace(rest), u.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v < 0 || math.IsNaN(v) || v*unit >= 1<<63 || v*unit != math.Trunc(v*unit) || strings.ContainsAny(number, "xXpPeE_") {
		return 0, &usageError{msg: "size " + strconv.Quote(s) + ": not a number of bytes", remedy: sizeRemedy}
	}
	return uint64(v * unit), nil
}

// parseSizes reads sizes with commas between, each from 1 byte to limit.
func parseSizes(flag, text string, limit uint64) (list []int, err error) {
	limit = min(limit, math.MaxInt)
	for s := range strings.SplitSeq(text, ",") {
		n, err := parseSize(s)
		if err == nil && (n < 1 || n > limit) {
			err = usagef("allowed are 1 to %d bytes", limit)
		}
		if err != nil {
			return nil, &usageError{msg: fmt.Sprintf("%s %s: %v", flag, text, err), remedy: sizeRemedy + ", several with commas between"}
		}
		list = append(list, int(n))
	}
	return list, nil
}

// sizeFlag is a flag that takes a number of bytes, with or without a unit.
type sizeFlag struct{ bytes *int }

// sizeVar makes the flag of a variable that has its default already.
func sizeVar(bytes *int) sizeFlag { return sizeFlag{bytes} }

func (f sizeFlag) String() string {
	if f.bytes == nil { // the library asks a zero value for its text
		return "0"
	}
	return strconv.Itoa(*f.bytes)
}

func (f sizeFlag) Set(s string) error {
	n, err := parseSize(s)
	if err != nil {
		return err
	}
	if n > math.MaxInt32 {
		return usagef("size %s: too large", s)
	}
	*f.bytes = int(n)
	return nil
}

func (f sizeFlag) Type() string { return "size" }
