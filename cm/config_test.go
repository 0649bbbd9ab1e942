package cm

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestConfigDefaults(t *testing.T) {
	want := Config{
		SendDepth: 16, RecvDepth: 16, RecvSize: 4096, MaxSGE: 4, MaxInline: 64, LocalReads: 16, PeerReads: 16,
		RetryCount: 6, RNRRetryCount: 7, CloseTimeout: time.Second,
		KeepAlive: KeepAlive{Interval: 30 * time.Second, Limit: 30 * time.Second},
	}
	for _, c := range []*Config{nil, {}} {
		got, err := c.resolved()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	in := Config{SendDepth: 1, RecvDepth: 2, RecvSize: 3, MaxSGE: 4, MaxInline: -1, LocalReads: -1, PeerReads: -7, RetryCount: -1, RNRRetryCount: -1, CloseTimeout: -1}
	saved := in
	got, err := in.resolved()
	if err != nil || in != saved {
		t.Fatalf("%v, changed to %+v", err, in)
	}
	if got.MaxInline != 0 || got.LocalReads != 0 || got.PeerReads != 0 || got.RetryCount != 0 || got.RNRRetryCount != 0 || got.CloseTimeout != -1 || got.SendDepth != 1 {
		t.Errorf("got %+v", got)
	}
}

func TestConfigRanges(t *testing.T) {
	for _, tc := range []struct {
		name string
		c    Config
	}{
		{"SendDepth", Config{SendDepth: -1}}, {"SendDepth", Config{SendDepth: 1<<20 + 1}},
		{"RecvDepth", Config{RecvDepth: -1}}, {"RecvSize", Config{RecvSize: 1<<30 + 1}},
		{"MaxSGE", Config{MaxSGE: 257}}, {"MaxInline", Config{MaxInline: 1<<16 + 1}},
		{"LocalReads", Config{LocalReads: 256}}, {"PeerReads", Config{PeerReads: 256}},
		{"RetryCount", Config{RetryCount: 8}}, {"PathMTU", Config{PathMTU: 1500}}, {"PathMTU", Config{PathMTU: 128}}, {"PathMTU", Config{PathMTU: -1}}, {"RNRRetryCount", Config{RNRRetryCount: 8}},
	} {
		_, err := tc.c.resolved()
		if !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), tc.name) {
			t.Errorf("%+v: %v", tc.c, err)
		}
	}
}
