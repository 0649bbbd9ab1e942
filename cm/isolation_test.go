package cm

import (
	"errors"
	"testing"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestIsolation: a peer that knows the key and the address of what was exported
// to another peer of the same process does not reach it.
func TestIsolation(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	alice, aliceServer := r.pair(l, &Dialer{Config: quick})
	bob, bobServer := r.pair(l, &Dialer{Config: quick})
	if aliceServer.QP().PD() == bobServer.QP().PD() {
		t.Fatal("two connections in one protection domain")
	}
	ctx := testContext(t)
	secret := alloc(t, aliceServer, 64, RemoteRead|RemoteWrite|RemoteAtomic)
	copy(secret.Bytes(), "for alice alone")
	mine := alloc(t, alice, 64, 0)
	if err := alice.Read(ctx, secret.Remote(), mine.All()); err != nil || string(mine.Bytes()[:15]) != "for alice alone" {
		t.Fatalf("alice reads %q, %v", mine.Bytes()[:15], err)
	}
	mem := alloc(t, bob, 64, 0)
	err := bob.Read(ctx, secret.Remote(), mem.All())
	wantStatus(t, err, abi.IB_WC_REM_ACCESS_ERR)
	if mem.Bytes()[0] != 0 {
		t.Errorf("bob reads %q", mem.Bytes()[:15])
	}
}

func wantStatus(t *testing.T, err error, want abi.IBWCStatus) {
	t.Helper()
	var ce *uverbs.CompletionError
	if !errors.As(err, &ce) || ce.Status != want {
		t.Errorf("got %v, want status %v", err, want)
	}
}
