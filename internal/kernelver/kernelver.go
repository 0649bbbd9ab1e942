// Package kernelver tells which kernel runs, for what no file or answer of it says.
package kernelver

import (
	"strconv"
	"strings"
	"sync"
)

// A version is a release's first two numbers.
type version struct{ major, minor int }

var running = sync.OnceValues(func() (version, bool) { return parse(Release()) })

// Older reports whether the running kernel is older than a release such as 6.10. Of
// a kernel whose release cannot be read it is not known, so the answer is no.
func Older(major, minor int) bool {
	v, ok := running()
	return ok && v.before(major, minor)
}

// Since reports whether the running kernel is of a release such as 6.10, or newer. Of
// a kernel whose release cannot be read it is not known, so the answer is no.
func Since(major, minor int) bool {
	v, ok := running()
	return ok && !v.before(major, minor)
}

func (v version) before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// parse reads the beginning of a release such as "6.12.95-amd64" or "7.3-rc1".
func parse(release string) (v version, ok bool) {
	major, rest, _ := strings.Cut(release, ".")
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		rest = rest[:end]
	}
	var errs [2]error
	v.major, errs[0] = strconv.Atoi(major)
	v.minor, errs[1] = strconv.Atoi(rest)
	if errs[0] != nil || errs[1] != nil || v.major < 0 {
		return version{}, false
	}
	return v, true
}
