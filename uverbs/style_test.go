//go:build linux

package uverbs_test

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

func TestCallStyle(t *testing.T) {
	for _, tc := range []struct {
		name    string
		kernel  func(*fakeverbs.Kernel)
		style   uverbs.CallStyle
		want    uverbs.CallStyle
		err     error
		without string // a call that must not appear
	}{
		{name: "auto", want: uverbs.StyleIoctl, without: "CREATE_CQ"},
		{name: "auto without ioctl", kernel: func(k *fakeverbs.Kernel) { k.NoIoctl = true }, want: uverbs.StyleWrite, without: "CQ_CREATE"},
		{name: "auto, ioctl refused by a sandbox", kernel: func(k *fakeverbs.Kernel) { k.FailCall(1, syscall.EPERM) }, want: uverbs.StyleWrite},
		{name: "auto, out of memory", kernel: func(k *fakeverbs.Kernel) { k.FailCall(1, syscall.ENOMEM) }, err: syscall.ENOMEM},
		{name: "ioctl forced, none", style: uverbs.StyleIoctl, kernel: func(k *fakeverbs.Kernel) { k.NoIoctl = true }, err: errors.ErrUnsupported},
		{name: "ioctl forced", style: uverbs.StyleIoctl, want: uverbs.StyleIoctl},
		{name: "write forced", style: uverbs.StyleWrite, want: uverbs.StyleWrite, without: "ASYNC_EVENT_ALLOC"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			k := fakeverbs.New()
			if tc.kernel != nil {
				tc.kernel(k)
			}
			c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: tc.style})
			if tc.err != nil {
				if !errors.Is(err, tc.err) {
					t.Errorf("open: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			r := mustBuild(t, c, nil)
			step(t, r)
			if c.CallStyle() != tc.want {
				t.Errorf("call style %v", c.CallStyle())
			}
			if calls := k.Calls(); slices.Contains(calls, tc.without) {
				t.Errorf("calls: %v", calls)
			}
		})
	}
}

// TestDoorbellFallsBack has a process whose credentials changed, or a sandbox
// without write: doorbells must still work, by ioctl.
func TestDoorbellFallsBack(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EPERM} {
		k := fakeverbs.New()
		k.RefuseWrite = errno
		c, err := uverbs.OpenOn(k, fakeDevice(), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := build(c, nil)
		if err != nil {
			t.Fatal(err)
		}
		step(t, r)
		step(t, r)
		if err := errors.Join(r.close(), c.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestDoorbellRefused(t *testing.T) {
	k := fakeverbs.New()
	c, err := uverbs.OpenOn(k, fakeDevice(), &uverbs.OpenOptions{CallStyle: uverbs.StyleWrite})
	if err != nil {
		t.Fatal(err)
	}
	r, err := build(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	k.RefuseWrite = syscall.EACCES
	err = r.qp.PostSend(signaled(1), signaled(2))
	var pe *uverbs.PostError
	if !errors.As(err, &pe) || pe.Posted != 2 || !errors.Is(err, devfile.ErrCredentialsChanged) || !errors.Is(err, syscall.EACCES) {
		t.Errorf("post: %v", err)
	}
	if err := r.cq.Arm(); !errors.Is(err, devfile.ErrCredentialsChanged) {
		t.Errorf("arm: %v", err)
	}
	k.RefuseWrite = 0
	if err := errors.Join(r.close(), c.Close()); err != nil {
		t.Error(err)
	}
}

func TestOpenErrors(t *testing.T) {
	d := fakeDevice()
	d.CharDev.Path = "/dev/infiniband/uverbs9"
	if _, err := uverbs.OpenOn(fakeverbs.New(), d, nil); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	d = fakeDevice()
	d.DriverID = abi.RDMA_DRIVER_MLX5 // not what the kernel runs
	if _, err := uverbs.OpenOn(fakeverbs.New(), d, nil); !errors.Is(err, syscall.EINVAL) {
		t.Error(err)
	}
}
