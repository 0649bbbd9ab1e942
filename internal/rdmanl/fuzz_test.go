package rdmanl

import (
	"context"
	"errors"
	"testing"
)

// FuzzDecode feeds one payload to each decoder: an answer or ErrMalformed, no panic.
func FuzzDecode(f *testing.F) {
	for _, kernel := range []string{"5.10", "7.3"} {
		for _, payloads := range captured(f, kernel) {
			for _, p := range payloads {
				f.Add(p)
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ctx := context.Background()
		_, e1 := answering(b).Devices(ctx)
		_, e2 := answering(b).Port(ctx, 0, 1)
		_, e3 := answering(b).CharDev(ctx, 0, CharDevVerbs)
		_, e4 := answering(b).System(ctx)
		_, e5 := answering(b).Resources(ctx, 0)
		_, e6 := answering(b).QPs(ctx, 0)
		_, e7 := answering(b).CMIDs(ctx, 0)
		_, e8 := answering(b).Contexts(ctx, 0)
		_, e9 := answering(b).Objects(ctx, 0, KindMR)
		for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8, e9} {
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Errorf("decoder %d: %v", i+1, err)
			}
		}
	})
}

// FuzzReply feeds one datagram to the parser of messages.
func FuzzReply(f *testing.F) {
	f.Add(packet(nlmsgError, flagAckTLVs, 1, status(1, packet(0x1401, 0, 1, nil)...)))
	f.Add(append(packet(0x1401, 0, 1, encode(2, 'x')), packet(nlmsgDone, 0, 1, nil)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := reply{seq: 1}
		total := 0
		_, _ = r.add(b) // any outcome is right; payloads must stay inside the datagram
		for _, p := range r.payloads {
			total += len(p) + nlmsgHeaderLen
		}
		if total > len(b) {
			t.Errorf("%d bytes of messages in %d", total, len(b))
		}
	})
}
