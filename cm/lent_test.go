package cm

import (
	"context"
	"net"
	"runtime/debug"
	"sync"
	"testing"
)

// lentMessage returns a message that a new connection has received, and both ends.
func lentMessage(t *testing.T, r *rig, l *Listener, text string) (client, server *Conn, m *Message) {
	t.Helper()
	client, server = r.pair(l, &Dialer{Config: quick})
	ctx := testContext(t)
	if err := client.SendCopy(ctx, []byte(text)); err != nil {
		t.Fatal(err)
	}
	m, err := server.Recv(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return client, server, m
}

// wantBytes reads memory that may not be mapped any more.
func wantBytes(t *testing.T, what string, b []byte, want string) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%s: %v", what, e)
		}
	}()
	if string(b) != want {
		t.Errorf("%s: %q, want %q", what, b, want)
	}
}

// TestMessageAfterClose: a message that was lent stays, whatever is closed and
// whoever connects, until it is released.
func TestMessageAfterClose(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	keep, _ := r.pair(l, &Dialer{Config: quick}) // the device stays open
	client, server, m := lentMessage(t, r, l, "for this server")
	data := m.Data
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "after Close", data, "for this server")
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if left := ReadMemoryUse().Left; left != 2*16*4096 {
		t.Errorf("%d bytes left behind", left)
	}
	ctx := testContext(t)
	later, laterServer := r.pair(l, &Dialer{Config: quick})
	for range 20 {
		if err := later.SendCopy(ctx, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if _, err := laterServer.RecvCopy(ctx, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
	}
	if err := keep.Close(); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, "after others came and went", data, "for this server")
	for range 2 {
		if err := m.Release(); err != nil {
			t.Error(err)
		}
	}
	if left := ReadMemoryUse().Left; left != 0 {
		t.Errorf("%d bytes left behind after Release", left)
	}
}

// TestLastMessageUnmaps: the buffers stay for as long as one message of several is
// lent.
func TestLastMessageUnmaps(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	var lent []*Message
	for _, text := range []string{"one", "two", "three"} {
		if err := client.SendCopy(ctx, []byte(text)); err != nil {
			t.Fatal(err)
		}
		m, err := server.Recv(ctx)
		if err != nil {
			t.Fatal(err)
		}
		lent = append(lent, m)
	}
	last := lent[2].Data
	if err := lent[0].Release(); err != nil { // before the end
		t.Error(err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	if err := lent[1].Release(); err != nil { // after it
		t.Error(err)
	}
	wantBytes(t, "the last message", last, "three")
	if err := lent[2].Release(); err != nil {
		t.Error(err)
	}
	if server.buffers.mem.Bytes() != nil {
		t.Error("the buffers are mapped with nothing lent")
	}
}

// TestMessageAfterDeviceClose: with the last connection the device goes; the
// message stays all the same.
func TestMessageAfterDeviceClose(t *testing.T) {
	r := newRig(t)
	client, server, m := lentMessage(t, r, r.listen(nil), "the last")
	data := m.Data
	for _, c := range []*Conn{client, server} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if use := ReadMemoryUse(); use.Pinned != 0 || use.Left == 0 {
		t.Errorf("in use: %+v", use)
	}
	r.checkDeviceClosed()
	wantBytes(t, "after all is closed", data, "the last")
	if err := m.Release(); err != nil {
		t.Error(err)
	}
}

// TestRecvAfterClose: what has arrived and was not received before Close is not
// lent after it, whichever way one asks.
func TestRecvAfterClose(t *testing.T) {
	r := newRig(t)
	client, server := r.pair(r.listen(nil), &Dialer{Config: quick})
	ctx := testContext(t)
	for range 3 {
		if err := client.SendCopy(ctx, []byte("never received")); err != nil {
			t.Fatal(err)
		}
	}
	// One message is given back by RecvCopy, the others wait.
	if n, err := server.RecvCopy(ctx, nil); n != 14 || err == nil {
		t.Fatalf("%d bytes, %v", n, err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		_, err := server.Recv(ctx)
		wants(t, err, net.ErrClosed)
		_, err = server.RecvCopy(ctx, make([]byte, 100))
		wants(t, err, net.ErrClosed)
	}
	_, err := server.message(received{slot: 1}) // what a receiver does that was overtaken by Close
	wants(t, err, net.ErrClosed)
}

// TestRecvBesideClose: receivers that Close overtakes get a message that stays,
// or an error.
func TestRecvBesideClose(t *testing.T) {
	r := newRig(t)
	l := r.listen(nil)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for range 40 {
		client, server := r.pair(l, &Dialer{Config: &Config{CloseTimeout: -1}})
		server.cfg.CloseTimeout = -1
		for range 16 {
			if err := client.SendCopy(testContext(t), []byte("hello")); err != nil {
				t.Fatal(err)
			}
		}
		var wg sync.WaitGroup
		receive := func(get func() (string, error)) {
			wg.Go(func() {
				debug.SetPanicOnFault(true) // of this goroutine
				for {
					text, err := get()
					if err != nil {
						wants(t, err, net.ErrClosed)
						return
					}
					if text != "hello" {
						t.Errorf("received %q", text)
					}
				}
			})
		}
		for range 2 {
			receive(func() (string, error) { return recvText(context.Background(), server) })
			receive(func() (string, error) {
				var b [10]byte
				n, err := server.RecvCopy(context.Background(), b[:])
				return string(b[:n]), err
			})
		}
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
	}
}
