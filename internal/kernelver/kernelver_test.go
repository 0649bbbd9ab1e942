package kernelver

import (
	"runtime"
	"testing"
)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		release string
		want    version
		ok      bool
	}{
		{"6.12.117+deb13-amd64", version{6, 12}, true},
		{"5.10.0-35-amd64", version{5, 10}, true},
		{"7.3-rc1", version{7, 3}, true},
		{"7.3", version{7, 3}, true},
		{"10.0+", version{10, 0}, true},
		{"", version{}, false},
		{"6", version{}, false},
		{"6.", version{}, false},
		{"six.one", version{}, false},
		{"-6.1", version{}, false},
		{"6.x", version{}, false},
	} {
		t.Run(tt.release, func(t *testing.T) {
			if v, ok := parse(tt.release); v != tt.want || ok != tt.ok {
				t.Errorf("got %v, %v; want %v, %v", v, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestBefore(t *testing.T) {
	for _, tt := range []struct {
		v            version
		major, minor int
		want         bool
	}{
		{version{6, 1}, 6, 10, true},
		{version{6, 10}, 6, 10, false},
		{version{6, 12}, 6, 10, false},
		{version{5, 19}, 6, 0, true},
		{version{7, 0}, 6, 10, false},
	} {
		if got := tt.v.before(tt.major, tt.minor); got != tt.want {
			t.Errorf("%v before %d.%d: %v", tt.v, tt.major, tt.minor, got)
		}
	}
}

// TestRunning: one of the two is true where the release can be read.
func TestRunning(t *testing.T) {
	known := runtime.GOOS == "linux"
	if Since(1, 0) != known || Older(1000, 0) != known || Since(1000, 0) || Older(1, 0) {
		t.Errorf("release %q: since 1.0 %v, older than 1000.0 %v, since 1000.0 %v, older than 1.0 %v",
			Release(), Since(1, 0), Older(1000, 0), Since(1000, 0), Older(1, 0))
	}
}

func FuzzParse(f *testing.F) {
	f.Add("6.12.117+deb13-amd64")
	f.Fuzz(func(t *testing.T, s string) {
		if v, ok := parse(s); ok && (v.major < 0 || v.minor < 0) {
			t.Errorf("%q: %v", s, v)
		}
	})
}
