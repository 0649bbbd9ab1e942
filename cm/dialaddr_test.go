package cm

import (
	"math"
	"net/netip"
	"syscall"
	"testing"
)

// TestDialRefusedAddresses: what cannot be dialled is refused before anything
// is created, with words.
func TestDialRefusedAddresses(t *testing.T) {
	r := newRig(t)
	for _, tc := range []struct {
		local, remote string
		text          string
	}{
		{"", "0.0.0.0:7174", "not the address of a peer"},
		{"", "[::]:7174", "not the address of a peer"},
		{"", "[::ffff:0.0.0.0]:7174", "not the address of a peer"},
		{"10.0.0.1:0", "[fd00::1]:7174", "different families"},
		{"[fd00::1]:0", "10.0.0.1:7174", "different families"},
	} {
		d := new(Dialer)
		if tc.local != "" {
			d.LocalAddr = netip.MustParseAddrPort(tc.local)
		}
		_, err := d.DialAddr(testContext(t), netip.MustParseAddrPort(tc.remote))
		wants(t, err, syscall.EINVAL)
		wantsText(t, err, tc.text)
	}
	_, err := new(Dialer).DialAddr(testContext(t), netip.AddrPort{})
	wants(t, err, syscall.EINVAL)
	if n := r.cm.Calls(); n != 0 {
		t.Errorf("%d calls to the kernel", n)
	}
}

// TestBacklogRange: a backlog that no memory could hold is refused.
func TestBacklogRange(t *testing.T) {
	newRig(t)
	for _, n := range []int{-1, maxBacklog + 1, math.MaxInt} {
		_, err := ListenAddr(serverAddr, &ListenConfig{Backlog: n})
		wants(t, err, syscall.EINVAL)
		wantsText(t, err, "backlog")
	}
}
