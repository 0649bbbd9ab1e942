//go:build linux

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestAutogroupComesBack: whatever the setting was, it is 0 for a while and the same
// afterwards, also where the kernel does not have it.
func TestAutogroupComesBack(t *testing.T) {
	for _, was := range []string{"1\n", "0\n", "absent"} {
		setting := filepath.Join(t.TempDir(), "setting")
		if was != "absent" {
			if err := os.WriteFile(setting, []byte(was), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		before, err := ungroup(setting)
		if err != nil {
			t.Fatal(err)
		}
		wantSetting(t, setting, map[string]string{"1\n": "0\n", "0\n": "0\n", "absent": "absent"}[was])
		if err := regroup(setting, before); err != nil {
			t.Fatal(err)
		}
		wantSetting(t, setting, was)
	}
}

func wantSetting(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		got, err = []byte("absent"), nil
	}
	if err != nil || string(got) != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}
