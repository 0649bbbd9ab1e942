//go:build linux

package uverbs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

func TestPKeys(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "sys/class/infiniband/rxe0/ports/1/pkeys")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, text := range []string{"0xffff\n", "0x8001\n", "0x0001\n", "no key\n"} {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d := fakeDevice()
	uverbs.SetSysfs(d, root)
	c, err := uverbs.OpenOn(fakeverbs.New(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if key, err := c.QueryPKey(1, 1); key != 0x8001 || err != nil {
		t.Errorf("entry 1: %#x, %v", key, err)
	}
	if index, err := c.PKeyIndex(1, 1); index != 2 || err != nil {
		t.Errorf("limited member: entry %d, %v", index, err)
	}
	if _, err := c.PKeyIndex(1, 0x7777); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("behind an entry that makes no sense: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "3")); err != nil {
		t.Fatal(err)
	}
	for _, port := range []int{1, 2} {
		if _, err := c.PKeyIndex(port, 0x7777); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("port %d: %v", port, err)
		}
	}
}
