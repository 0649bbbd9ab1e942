package cm

import (
	"bytes"
	"encoding/json"
	"errors"
	"syscall"
	"testing"
)

// TestPackData: what was packed comes back from padding of any length.
func TestPackData(t *testing.T) {
	for n := range MaxPackedData + 1 {
		data := bytes.Repeat([]byte{0, 7}, n)[:n]
		packed, err := PackData(data)
		if err != nil || len(packed) != n+packHeader {
			t.Fatalf("%d bytes become %d, %v", n, len(packed), err)
		}
		for _, padding := range []int{0, 1, 56, 196} {
			got, err := UnpackData(append(packed[:len(packed):len(packed)], make([]byte, padding)...))
			if err != nil || !bytes.Equal(got, data) || got == nil || cap(got) != n {
				t.Errorf("%d bytes and %d of padding: %d (cap %d), %v", n, padding, len(got), cap(got), err)
			}
		}
	}
	if _, err := PackData(make([]byte, MaxPackedData+1)); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("too long: %v", err)
	}
}

func TestUnpackDataRefuses(t *testing.T) {
	for name, tc := range map[string]struct {
		p    []byte
		want error
	}{
		"nothing":             {nil, ErrNoData},
		"padding alone":       {make([]byte, 56), ErrNoData},
		"one byte":            {[]byte{255}, syscall.EINVAL},
		"no complement":       {[]byte{1, 1, 7}, syscall.EINVAL},
		"cut short":           {[]byte{3, 252, 1, 2}, syscall.EINVAL},
		"goes on":             {[]byte{1, 254, 1, 2}, syscall.EINVAL},
		"text":                {append([]byte("hello"), make([]byte, 51)...), syscall.EINVAL},
		"goes on after zeros": {[]byte{1, 254, 1, 0, 0, 2}, syscall.EINVAL},
	} {
		got, err := UnpackData(tc.p)
		if !errors.Is(err, tc.want) || got != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// TestPackedPrivateData takes JSON both ways of a handshake, where the padding
// would make json.Unmarshal fail.
func TestPackedPrivateData(t *testing.T) {
	r := newRig(t)
	type hello struct{ Name string }
	text, _ := json.Marshal(hello{"client"})
	packed, err := PackData(text)
	if err != nil {
		t.Fatal(err)
	}
	client, server := r.pair(r.listen(nil), &Dialer{PrivateData: packed, Config: quick})
	if len(server.PrivateData()) != MaxConnectData {
		t.Fatalf("%d bytes arrived: the double does not pad", len(server.PrivateData()))
	}
	got, err := UnpackData(server.PrivateData())
	if err != nil {
		t.Fatal(err)
	}
	var h hello
	if err := json.Unmarshal(got, &h); err != nil || h.Name != "client" {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := UnpackData(client.PrivateData()); !errors.Is(err, syscall.EINVAL) { // "welcome", not packed
		t.Errorf("what the server sent without packing: %v", err)
	}
}

func FuzzUnpackData(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte{2, 253, 1, 2, 0, 0})
	f.Add([]byte{255, 0, 1})
	f.Fuzz(func(t *testing.T, p []byte) {
		got, err := UnpackData(p)
		if err != nil {
			return
		}
		packed, err := PackData(got)
		if err != nil || !bytes.HasPrefix(p, packed) || !isZero(p[len(packed):]) {
			t.Errorf("%x gave %x, which packs as %x, %v", p, got, packed, err)
		}
	})
}
