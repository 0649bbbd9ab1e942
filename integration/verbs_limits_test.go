//go:build linux

package integration

import (
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/uverbs"
)

// verbsUnprivileged runs f on a thread without CAP_IPC_LOCK. The thread is
// not used again: its credentials stay different.
func verbsUnprivileged(t *testing.T, f func()) {
	t.Helper()
	done := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlock
		hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		var data [2]unix.CapUserData
		if err := unix.Capget(&hdr, &data[0]); err != nil {
			done <- err
			return
		}
		data[0].Effective &^= 1 << unix.CAP_IPC_LOCK
		if err := unix.Capset(&hdr, &data[0]); err != nil {
			done <- err
			return
		}
		f()
	}()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

func verbsMemlock(t *testing.T, limit uint64) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old); err != nil {
			t.Error(err)
		}
	})
}

// TestVerbsMemlock registers more than RLIMIT_MEMLOCK allows. By ioctl only: write(2)
// refuses a thread whose credentials are not the opener's.
func TestVerbsMemlock(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit uint64
		errno syscall.Errno
		text  string
	}{
		{"limited", 64 << 10, syscall.ENOMEM, "RLIMIT_MEMLOCK is 65536 bytes, "},
		{"forbidden", 0, syscall.EPERM, "RLIMIT_MEMLOCK is 0 bytes, "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := verbsOpen(t, uverbs.StyleIoctl)
			pd, err := c.AllocPD()
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, pd)
			mem, err := uverbs.NewMemory(1 << 20)
			if err != nil {
				t.Fatal(err)
			}
			verbsClose(t, mem)
			verbsMemlock(t, tc.limit)
			verbsUnprivileged(t, func() {
				_, err := pd.RegMR(mem, uverbs.AccessLocalWrite)
				if !errors.Is(err, tc.errno) || !strings.Contains(err.Error(), tc.text) {
					t.Errorf("register: %v", err)
				}
			})
		})
	}
}

// TestVerbsCredentialsChanged uses a device from a thread whose credentials
// are not the opener's: write(2) is refused, doorbells fall back to ioctl.
func TestVerbsCredentialsChanged(t *testing.T) {
	verbsEach(t, func(t *testing.T, c *uverbs.Context) {
		a, b := verbsPair(t, c)
		b.recv(uverbs.RecvWR{ID: 1})
		var err error
		verbsUnprivileged(t, func() {
			err = a.qp.PostSend(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled})
		})
		if c.CallStyle() == uverbs.StyleWrite {
			if !errors.Is(err, devfile.ErrCredentialsChanged) {
				t.Errorf("post: %v", err)
			}
			// The request is in the queue; the next doorbell takes it along.
			a.send(uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_RDMA_READ, Flags: uverbs.SendSignaled,
				SGEs: []uverbs.SGE{a.mr.SGE(0, 8)}, RemoteAddr: b.mr.Addr(), RKey: b.mr.RKey()})
			a.want(2, abi.IB_WC_SEND)
			a.want(3, abi.IB_WC_RDMA_READ)
		} else {
			if err != nil {
				t.Errorf("post: %v", err)
			}
			a.want(2, abi.IB_WC_SEND)
		}
		b.want(1, abi.IB_WC_RECV)
	})
	t.Run("auto", func(t *testing.T) {
		a, b := verbsPair(t, verbsOpen(t, uverbs.StyleAuto))
		b.recv(uverbs.RecvWR{ID: 1})
		verbsUnprivileged(t, func() {
			a.send(uverbs.SendWR{ID: 2, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled})
		})
		a.want(2, abi.IB_WC_SEND)
		b.want(1, abi.IB_WC_RECV)
	})
}
