package cm

import "testing"

// TestOperationsAllocateNothing, except the Message of a receive.
func TestOperationsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	near := alloc(t, client, 64, 0)
	far := alloc(t, server, 64, RemoteRead|RemoteWrite|RemoteAtomic)
	all, word, remote, buf := near.All(), near.Slice(0, 8), far.Remote(), make([]byte, 64)
	for _, tc := range []struct {
		name string
		want float64
		op   func() error
	}{
		{"write", 0, func() error { return client.Write(ctx, remote, all) }},
		{"read", 0, func() error { return client.Read(ctx, remote, all) }},
		{"fetch and add", 0, func() error { return client.FetchAdd(ctx, remote, word, 1) }},
		{"send and receive", 1, func() error {
			if err := client.Send(ctx, all); err != nil {
				return err
			}
			return second(server.RecvCopy(ctx, buf))
		}},
		{"send a copy and receive", 1, func() error {
			if err := client.SendCopy(ctx, buf); err != nil {
				return err
			}
			return second(server.RecvCopy(ctx, buf))
		}},
	} {
		if n := testing.AllocsPerRun(200, func() {
			if err := tc.op(); err != nil {
				t.Fatal(err)
			}
		}); n > tc.want {
			t.Errorf("%s: %v allocations, want %v", tc.name, n, tc.want)
		}
	}
}
