package holders

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestHostname: a container's tree is hostile. Nothing outside of it is read, nothing in it
// is waited for, and what is read is bounded.
func TestHostname(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret"), "secret\n")
	write(t, filepath.Join(outside, "hostname"), "secret\n")
	for name, tt := range map[string]struct {
		plant func(root, etc string) error
		want  string
	}{
		"file":       {func(_, etc string) error { return os.WriteFile(etc+"/hostname", []byte(" web-7f9c \nmore\n"), 0o644) }, "web-7f9c"},
		"nothing":    {func(string, string) error { return nil }, ""},
		"odd name":   {func(_, etc string) error { return os.WriteFile(etc+"/hostname", []byte("a\x1b[2J\xffb"), 0o644) }, "a\x1b[2J\xffb"},
		"pipe":       {func(_, etc string) error { return syscall.Mkfifo(etc+"/hostname", 0o644) }, ""},
		"socket":     {func(_, etc string) error { return syscall.Mknod(etc+"/hostname", syscall.S_IFSOCK|0o644, 0) }, ""},
		"folder":     {func(_, etc string) error { return os.Mkdir(etc+"/hostname", 0o755) }, ""},
		"link out":   {func(_, etc string) error { return os.Symlink(outside+"/secret", etc+"/hostname") }, ""},
		"link up":    {func(_, etc string) error { return os.Symlink(up(etc)+outside+"/secret", etc+"/hostname") }, ""},
		"link loop":  {func(_, etc string) error { return os.Symlink("hostname", etc+"/hostname") }, ""},
		"magic link": {func(_, etc string) error { return os.Symlink("/proc/self/root"+outside+"/secret", etc+"/hostname") }, ""},
		"folder link": {func(root, etc string) error {
			if err := os.Remove(etc); err != nil {
				return err
			}
			return os.Symlink(outside, root+"/etc")
		}, ""},
		"link to a pipe": {func(root, etc string) error {
			if err := syscall.Mkfifo(root+"/pipe", 0o644); err != nil {
				return err
			}
			return os.Symlink("/pipe", etc+"/hostname")
		}, ""},
		"link inside": {func(root, etc string) error {
			if err := os.WriteFile(root+"/name", []byte("inside"), 0o644); err != nil {
				return err
			}
			return os.Symlink("/name", etc+"/hostname") // from the container's root
		}, "inside"},
		"huge": {func(_, etc string) error {
			if err := os.WriteFile(etc+"/hostname", []byte(strings.Repeat("a", 1000)), 0o644); err != nil {
				return err
			}
			return os.Truncate(etc+"/hostname", 1<<40)
		}, strings.Repeat("a", maxHostname)},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root := filepath.Join(dir, "root")
			etc := filepath.Join(root, "etc")
			if err := os.MkdirAll(etc, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := tt.plant(root, etc); err != nil {
				t.Fatal(err)
			}
			// Without the limit of hostname: nothing here may take any time.
			if got := firstLine(readHostname(root)); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// up leads from a folder to the root of the file system, and further.
func up(dir string) string {
	return strings.Repeat("../", strings.Count(dir, "/")+3)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
