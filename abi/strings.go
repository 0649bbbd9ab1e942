// This file holds what the texts of the strings_*.go files share.

package abi

import "strconv"

// nameOf returns names[v], or type and number where names has no text.
func nameOf(names []string, typ string, v uint64) string {
	if v < uint64(len(names)) && names[v] != "" {
		return names[v]
	}
	return typ + "(" + strconv.FormatUint(v, 10) + ")"
}

// flagName is one bit of a flag set.
type flagName struct {
	bit  uint64
	name string
}

// flagsOf lists the set bits of v, those without a name as one number.
func flagsOf(names []flagName, v uint64) string {
	if v == 0 {
		return "0"
	}
	var s string
	for _, f := range names {
		if v&f.bit == 0 {
			continue
		}
		v &^= f.bit
		if s != "" {
			s += "|"
		}
		s += f.name
	}
	if v == 0 {
		return s
	}
	if s != "" {
		s += "|"
	}
	return s + "0x" + strconv.FormatUint(v, 16)
}
