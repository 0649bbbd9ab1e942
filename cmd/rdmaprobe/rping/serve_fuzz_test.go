package rping_test

import (
	"errors"
	"testing"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping/rpingtest"
)

// FuzzServe has a client send any messages, in any order and of any length, to a server, and
// leave. Each message is a byte for its kind and the bytes that it takes. The server
// returns, with an error that names a step or nil, and has no memory left.
func FuzzServe(f *testing.F) {
	f.Add([]byte{0, 0})                           // two descriptors, which is a ping
	f.Add([]byte{0, 0, 0, 2, 0, 1, 16, 9, 9, 9})  // then nonsense
	f.Add([]byte{3, 0xff, 0xff, 0, 2, 4, 1, 255}) // sizes at the limits
	f.Fuzz(func(t *testing.T, b []byte) {
		client, server := rpingtest.Pipe()
		client.Careless, server.Careless = true, true
		done := make(chan error, 1)
		go func() {
			_, err := rping.Serve(t.Context(), server, &rping.ServeOptions{Idle: time.Minute, First: time.Minute})
			server.HangUp()
			done <- err
		}()
		go func() { // takes what the server sends
			for {
				if _, err := client.Recv(t.Context(), make([]byte, rping.InfoSize)); err != nil {
					return
				}
			}
		}()
		mem, err := client.Alloc(4096, rping.PeerWrites)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; len(b) > 0 && n < 16; n++ {
			var m []byte
			if m, b = message(b, mem.Info()); client.Send(t.Context(), m) != nil {
				break
			}
		}
		client.HangUp()
		err = <-done
		var step *rping.StepError
		if err != nil && !errors.As(err, &step) {
			t.Errorf("error %v", err)
		}
		if live := server.Live(); live != 1 { // the client's
			t.Errorf("%d pieces of memory", live)
		}
	})
}

// message takes the first message of a script: a descriptor of the client's memory as it
// is or with another length, or bytes.
func message(b []byte, info rping.Info) (m, rest []byte) {
	kind, b := b[0], b[1:]
	switch kind % 4 {
	case 1: // any bytes
		if len(b) == 0 {
			return nil, nil
		}
		n := min(int(b[0]), len(b)-1)
		return b[1:][:n], b[1:][n:]
	case 2: // beyond its end, or of another size
		if len(b) > 0 {
			info.Size, b = uint32(b[0])<<4, b[1:]
		}
	case 3: // anywhere
		if len(b) > 1 {
			info.Addr, info.Size, b = info.Addr+uint64(b[0])<<8, uint32(b[1])<<8|uint32(b[0]), b[2:]
		}
	}
	m, _ = info.AppendBinary(nil) // never fails
	return m, b
}
