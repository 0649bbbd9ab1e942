//go:build linux

package uverbs_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/devfile"
	"github.com/purerdma/rdma/internal/fakeverbs"
	"github.com/purerdma/rdma/uverbs"
)

// tapped is a fake kernel that shows the last command of the data path, and may take
// less of it than it is given.
type tapped struct {
	*fakeverbs.Kernel
	last  []byte
	short atomic.Bool
}

type tappedFile struct {
	devfile.Handle
	k *tapped
}

func (k *tapped) Open(path string) (devfile.Handle, error) {
	h, err := k.Kernel.Open(path)
	return tappedFile{h, k}, err
}

func (f tappedFile) Write(p []byte) (int, error) { return f.tap(p, f.Handle.Write) }
func (f tappedFile) Ring(p []byte) (int, error)  { return f.tap(p, f.Handle.Ring) }

func (f tappedFile) tap(p []byte, do func([]byte) (int, error)) (int, error) {
	f.k.last = append([]byte(nil), p...)
	if f.k.short.Load() {
		return len(p) - 1, nil
	}
	return do(p)
}

// TestArmCommands: REQ_NOTIFY_CQ names the queue, and whether any completion shall raise
// an event or one that was asked for.
func TestArmCommands(t *testing.T) {
	k := &tapped{Kernel: fakeverbs.New()}
	r := mustBuild(t, openFakeOn(t, k), nil)
	for _, tc := range []struct {
		arm       func() error
		solicited uint32
	}{{r.cq.ArmSolicited, 1}, {r.cq.Arm, 0}} {
		if err := tc.arm(); err != nil {
			t.Fatal(err)
		}
		var got [3]uint32 // command, queue, solicited only
		for i, at := range []int{0, 8, 12} {
			got[i] = binary.NativeEndian.Uint32(k.last[at:])
		}
		want := [3]uint32{uint32(abi.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ), r.cq.Handle(), tc.solicited}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// TestShortDoorbell: a doorbell that the kernel did not take as a whole has failed, though
// it reports no error.
func TestShortDoorbell(t *testing.T) {
	k := &tapped{Kernel: fakeverbs.New()}
	r := mustBuild(t, openFakeOn(t, k), nil)
	k.short.Store(true)
	err := r.qp.PostSend(signaled(1))
	k.short.Store(false)
	var posted *uverbs.PostError
	if !errors.As(err, &posted) || posted.Posted != 1 || !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v, want a PostError of one request that matches EIO", err)
	}
	if err := r.qp.PostSend(); err != nil {
		t.Errorf("the doorbell again: %v", err)
	}
	var wcs [2]uverbs.WC
	if n, err := r.cq.Poll(wcs[:]); n != 1 || err != nil || wcs[0].ID != 1 {
		t.Errorf("%d completions, first %+v, %v", n, wcs[0], err)
	}
}

// TestBellsComeBack: the places of a closed object's commands are for the next one.
func TestBellsComeBack(t *testing.T) {
	r := mustBuild(t, openFake(t), nil)
	free := -1
	for range 3 {
		cq, err := r.ctx.CreateCQ(uverbs.CQConfig{Entries: 8, Channel: r.ch})
		if err != nil {
			t.Fatal(err)
		}
		qp, err := r.pd.CreateQP(uverbs.QPConfig{SendCQ: cq, RecvCQ: cq, Cap: uverbs.QPCap{MaxSendWR: 1}})
		if err != nil {
			t.Fatal(err)
		}
		closeAll(t, qp, cq)
		if n := uverbs.FreeBells(r.ctx); free >= 0 && n != free {
			t.Errorf("%d places are free, %d before", n, free)
		} else {
			free = n
		}
	}
}

// TestCQErrorNumbers: the numbers are told where they explain the overflow.
func TestCQErrorNumbers(t *testing.T) {
	for outstanding, explains := range map[int]bool{0: false, 3: false, 4: false, 5: true} {
		err := &uverbs.CQError{CQ: "CQ 1", Device: "rxe0", Event: abi.IB_EVENT_CQ_ERR, Entries: 4, Outstanding: outstanding}
		if got := strings.Contains(err.Error(), "it has 4 entries"); got != explains {
			t.Errorf("%d outstanding of 4: %v", outstanding, err)
		}
	}
}
