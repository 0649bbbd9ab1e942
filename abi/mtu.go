// This file holds the arithmetic of the encoded MTU.

package abi

import "strconv"

// Bytes returns the MTU in bytes, 0 for a value that is no MTU.
func (m IBMTU) Bytes() int {
	if m < IB_MTU_256 || m > IB_MTU_4096 {
		return 0
	}
	return 128 << m
}

// String returns the MTU in bytes, such as "1024".
func (m IBMTU) String() string {
	if n := m.Bytes(); n != 0 {
		return strconv.Itoa(n)
	}
	return nameOf(nil, "IBMTU", uint64(m))
}

// IBMTUFromBytes returns the largest MTU that fits into n bytes of payload, and
// false if none does.
func IBMTUFromBytes(n int) (IBMTU, bool) {
	for m := IB_MTU_4096; m >= IB_MTU_256; m-- {
		if m.Bytes() <= n {
			return m, true
		}
	}
	return 0, false
}
