package ucma

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestOpenDenied: a folder that may not be searched is told from a file whose mode
// forbids it.
func TestOpenDenied(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "closed")
	files := map[string]string{
		filepath.Join(dir, "file"):    "the file's mode",
		filepath.Join(closed, "file"): "a folder of that path may not be searched",
	}
	if err := os.Mkdir(closed, 0o755); err != nil {
		t.Fatal(err)
	}
	for path := range files {
		if err := os.WriteFile(path, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for path, mode := range map[string]os.FileMode{filepath.Dir(dir): 0o755, dir: 0o755, closed: 0} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = os.Chmod(closed, 0o755) })
	if os.Geteuid() == 0 {
		// Only this thread's access to files becomes that of another user.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if _, err := unix.SetfsuidRetUid(12345); err != nil {
			t.Fatal(err)
		}
		defer func() { _, _ = unix.SetfsuidRetUid(0) }()
	}
	for path, want := range files {
		_, err := Open(&Options{Path: path})
		if !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
}
