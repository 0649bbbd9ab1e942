//go:build linux

package main

import (
	"net"
	"testing"
	"time"
)

// TestAnswerGuests: a guest that calls twice is one guest, and one that calls late
// is answered too.
func TestAnswerGuests(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := make(chan struct{})
	go answerGuests(l, 2, all)
	call := func(host string) {
		t.Helper()
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(host)}, Timeout: 5 * time.Second}
		c, err := d.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		_, _ = c.Read(make([]byte, 1)) // ends when the call is counted, or nearly so
	}
	call("127.0.0.2")
	call("127.0.0.2")
	call("127.0.0.2") // the second is counted now
	select {
	case <-all:
		t.Fatal("one guest was counted twice")
	default:
	}
	call("127.0.0.3")
	select {
	case <-all:
	case <-time.After(5 * time.Second):
		t.Fatal("two guests have called")
	}
	call("127.0.0.2")
}
