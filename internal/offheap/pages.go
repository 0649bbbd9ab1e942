package offheap

import "os"

// Pages says what pages memory shall consist of. The zero value means private
// pages of the machine's ordinary size.
type Pages struct {
	Huge        int      // size of reserved huge pages, a power of two; 0: none
	Transparent bool     // advise the kernel to use huge pages
	File        *os.File // map this file of [NewFile], shared; Huge must be the file's
}

// round returns the length to map for n bytes: munmap wants whole huge pages,
// and does not mind parts of others.
func (p Pages) round(n int) int {
	if p.Huge == 0 {
		return n
	}
	return (n + p.Huge - 1) / p.Huge * p.Huge
}
