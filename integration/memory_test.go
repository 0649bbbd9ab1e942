//go:build linux

package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestMemoryKinds reads and writes memory of every kind of page, and pieces of
// arenas of them, by RDMA.
func TestMemoryKinds(t *testing.T) {
	huge := hugePages(t, 8)
	for _, cfg := range []uverbs.MemoryConfig{
		{},
		{TransparentHuge: true},
		{Shared: true},
		{HugePageSize: huge},
		{HugePageSize: huge, Shared: true},
	} {
		name := fmt.Sprintf("huge %d, transparent %v, shared %v", cfg.HugePageSize, cfg.TransparentHuge, cfg.Shared)
		t.Run(name, func(t *testing.T) {
			a, b := rxePair(t, rxeConfig{cap: verbsCap})
			pd := b.qp.PD()
			cfg.Size = 100_000
			mem, err := uverbs.AllocMemory(cfg)
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, mem)
			mr, err := pd.RegMR(mem, rxeAccess)
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, mr)
			memoryCheck(t, a, mr.Addr()+50_001, mr.RKey(), mr.Bytes()[50_001:])
			arena, err := pd.NewArena(uverbs.ArenaConfig{Access: rxeAccess, HugePageSize: cfg.HugePageSize,
				TransparentHuge: cfg.TransparentHuge, Shared: cfg.Shared})
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, arena)
			for range 3 {
				buf, err := arena.Alloc(5000)
				if err != nil {
					t.Fatal(err)
				}
				verbsClose(t, buf)
				s := buf.Slice(100, 4900)
				memoryCheck(t, a, s.Addr(), s.RKey(), s.Bytes())
			}
		})
	}
}

// memoryCheck writes to memory by RDMA and reads it back.
func memoryCheck(t *testing.T, a *verbsSide, addr uint64, rkey uint32, local []byte) {
	t.Helper()
	const n = 4000
	want := a.fill(byte(addr >> 6))[:n]
	a.send(uverbs.SendWR{ID: 1, Opcode: abi.IB_UVERBS_WR_RDMA_WRITE, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{a.mr.SGE(0, n)}, RemoteAddr: addr, RKey: rkey})
	a.want(1, abi.IB_WC_RDMA_WRITE)
	verbsEqual(t, "written", local[:n], want)
	for i := range n {
		local[i] ^= 0x5a
	}
	a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: uverbs.SendSignaled,
		SGEs: []uverbs.SGE{a.mr.SGE(n, n)}, RemoteAddr: addr, RKey: rkey})
	a.want(2, abi.IB_WC_RDMA_READ)
	verbsEqual(t, "read", a.mr.Bytes()[n:2*n], local[:n])
}

// hugePages reserves huge pages and returns their size, or 0 on a machine that
// has none.
func hugePages(t *testing.T, n int) int {
	t.Helper()
	dirs, _ := filepath.Glob("/sys/kernel/mm/hugepages/hugepages-*kB")
	for _, dir := range dirs {
		kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(dir), "hugepages-"), "kB"))
		if err != nil || kib > 4096 {
			continue
		}
		if err := os.WriteFile(dir+"/nr_hugepages", []byte(strconv.Itoa(n)), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.WriteFile(dir+"/nr_hugepages", []byte("0"), 0o644) })
		free, _ := os.ReadFile(dir + "/free_hugepages")
		if got, _ := strconv.Atoi(strings.TrimSpace(string(free))); got < n {
			missing(t, fmt.Sprintf("%d free huge pages of %d KiB", n, kib), "give the guest more memory")
		}
		return kib << 10
	}
	t.Log("this machine has no huge pages")
	return 0
}

// TestCopyOnFork: the kernel reports it since 5.12.
func TestCopyOnFork(t *testing.T) {
	requireRDMA(t)
	checkLeaks(t)
	got, err := uverbs.CopyOnFork()
	if want := kernelAtLeast(t, 5, 12); got != want || err != nil {
		t.Errorf("copy on fork: %v, %v; want %v", got, err, want)
	}
}

const memlockChildEnv = "RDMA_MEMLOCK_CHILD"

// TestMemlockNamespace registers too much in a user namespace of its own, where
// CAP_IPC_LOCK looks effective and is not: the message tells that apart from a
// process without the capability.
func TestMemlockNamespace(t *testing.T) {
	requireRDMA(t)
	for _, tc := range []struct {
		name   string
		attr   *syscall.SysProcAttr
		memory string
		want   []string
	}{
		{"user namespace", &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}},
		}, "1048576", []string{"RLIMIT_MEMLOCK is 65536 bytes, 8192 are pinned, 1048576 more", "effective in this user namespace only",
			"cap-add IPC_LOCK", "LimitMEMLOCK=infinity", "Kubernetes", "ulimit memlock=-1"}},
		{"another user", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}, "1048576",
			[]string{"RLIMIT_MEMLOCK is 65536 bytes, 8192 are pinned, 1048576 more", "CAP_IPC_LOCK is not effective"}},
		{"another user, within the limit", &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}, "32768", []string{"registered"}},
		{"capability", nil, "1048576", []string{"registered"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe", "-test.run=^TestChildMemlock$")
			cmd.Env = append(os.Environ(), memlockChildEnv+"="+tc.memory)
			cmd.SysProcAttr = tc.attr
			cmd.Dir = "/"
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			for _, want := range tc.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("child said %q, without %q", out, want)
				}
			}
		})
	}
}

// TestChildMemlock is the child of TestMemlockNamespace: with two pages pinned
// and 64 KiB allowed it registers more.
func TestChildMemlock(t *testing.T) {
	size, err := strconv.Atoi(os.Getenv(memlockChildEnv))
	if err != nil {
		return // nobody's child
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 65536, Max: 65536}); err != nil {
		t.Fatal(err)
	}
	c, err := verbsDevice(t).Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, c)
	pd, err := c.AllocPD()
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, pd)
	for _, n := range []int{8192, size} {
		mem, err := uverbs.NewMemory(n)
		if err != nil {
			t.Fatal(err)
		}
		verbsClose(t, mem)
		mr, err := pd.RegMR(mem, uverbs.AccessLocalWrite)
		if n == size {
			if err != nil {
				fmt.Println(err)
			} else {
				fmt.Println("registered")
			}
		}
		if err != nil {
			if !errors.Is(err, syscall.ENOMEM) {
				t.Errorf("errno: %v", err)
			}
			return
		}
		verbsClose(t, mr)
	}
}
