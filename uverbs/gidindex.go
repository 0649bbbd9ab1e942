package uverbs

import (
	"fmt"
	"math"
	"syscall"
)

// PathIndex returns the slot as [AHAttr.SGIDIndex] has it, in 8 bits. A table may
// be longer; the error says so for an entry behind slot 255, and matches
// syscall.EADDRNOTAVAIL: no path can start there.
func (e GIDEntry) PathIndex() (uint8, error) {
	if e.Index < 0 || e.Index > math.MaxUint8 {
		return 0, fmt.Errorf("%v is in slot %d: a path can name slots 0 to %d: %w", e.GID.Addr(), e.Index, math.MaxUint8, syscall.EADDRNOTAVAIL)
	}
	return uint8(e.Index), nil
}
