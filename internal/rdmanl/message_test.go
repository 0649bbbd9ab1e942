package rdmanl

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestForEachAttr(t *testing.T) {
	u32 := encode(1, 1, 2, 3, 4)
	for name, tc := range map[string]struct {
		in   []byte
		want []uint16
		bad  bool
	}{
		"empty":                {nil, nil, false},
		"one":                  {u32, []uint16{1}, false},
		"padding missing":      {encode(2, 9)[:5], []uint16{2}, false},
		"two":                  {append(encode(2, 9), u32...), []uint16{2, 1}, false},
		"flag bits":            {encode(0xc003, 9), []uint16{3}, false},
		"no payload":           {encode(4), []uint16{4}, false},
		"rest below a header":  {append(encode(4), 1, 2, 3), []uint16{4}, false},
		"length under header":  {[]byte{3, 0, 1, 0}, nil, true},
		"length over the data": {u32[:6], nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			var got []uint16
			err := forEachAttr(tc.in, func(a attr) error { got = append(got, a.typ); return nil })
			if diff := cmp.Diff(tc.want, got); diff != "" || errors.Is(err, ErrMalformed) != tc.bad {
				t.Errorf("error %v, (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestShortAttributes(t *testing.T) {
	var d Device
	for _, typ := range []uint16{1, 3, 4, 6, 7, 14} {
		if err := d.attr(attr{typ, nil}); !errors.Is(err, ErrMalformed) {
			t.Errorf("attribute %d without payload: %v", typ, err)
		}
	}
	if err := d.attr(attr{2, nil}); err != nil || d.Name != "" {
		t.Errorf("empty string: %v", err)
	}
	if err := d.attr(attr{9999, nil}); err != nil {
		t.Errorf("unknown attribute: %v", err)
	}
}

func TestReply(t *testing.T) {
	const seq = 7
	extack := func(flags uint16, echo []byte) []byte {
		return packet(nlmsgError, flags, seq, append(status(syscall.EPERM, echo...), encode(extackAttrMsg, []byte("because\x00")...)...))
	}
	header := packet(0x1400, 0, seq, nil)
	data := packet(0x1401, 0, seq, []byte("data"))
	ok := packet(nlmsgError, 0, seq, status(0))
	for name, tc := range map[string]struct {
		in   [][]byte
		want int // payloads
		done bool
		err  error
		text string
	}{
		"answer and ack":        {[][]byte{data, ok}, 1, true, nil, ""},
		"in one datagram":       {[][]byte{append(append([]byte(nil), data...), ok...)}, 1, true, nil, ""},
		"dump":                  {[][]byte{data, data, packet(nlmsgDone, 0, seq, nil)}, 2, true, nil, ""},
		"not complete":          {[][]byte{data}, 1, false, nil, ""},
		"other request":         {[][]byte{packet(0x1401, 0, 6, nil), packet(nlmsgError, 0, 6, status(syscall.EIO)), ok}, 0, true, nil, ""},
		"no-op":                 {[][]byte{packet(1, 0, seq, nil), ok}, 0, true, nil, ""},
		"interrupted":           {[][]byte{packet(0x1401, flagDumpIntr, seq, nil), packet(nlmsgDone, 0, seq, status(0))}, 1, true, errInterrupted, ""},
		"overrun":               {[][]byte{packet(nlmsgOverrun, 0, seq, nil), ok}, 0, true, errInterrupted, ""},
		"dump fails at the end": {[][]byte{data, packet(nlmsgDone, 0, seq, status(syscall.EMSGSIZE))}, 1, true, syscall.EMSGSIZE, ""},
		"error":                 {[][]byte{packet(nlmsgError, 0, seq, status(syscall.EINVAL, header...))}, 0, true, syscall.EINVAL, ""},
		"capped with text":      {[][]byte{extack(flagAckTLVs|flagCapped, header)}, 0, true, syscall.EPERM, "because"},
		"text behind the echo":  {[][]byte{extack(flagAckTLVs, data)}, 0, true, syscall.EPERM, "because"},
		"text without echo":     {[][]byte{packet(nlmsgError, flagAckTLVs, seq, status(syscall.EPERM))}, 0, true, syscall.EPERM, ""},
		"echo too long":         {[][]byte{packet(nlmsgError, flagAckTLVs, seq, status(syscall.EPERM, packet(1, 0, 0, make([]byte, 40))[:16]...))}, 0, true, syscall.EPERM, ""},
		"empty error":           {[][]byte{packet(nlmsgError, 0, seq, nil)}, 0, true, ErrMalformed, ""},
		"positive status":       {[][]byte{packet(nlmsgError, 0, seq, status(0xfffffffb))}, 0, true, ErrMalformed, ""},
		"message too short":     {[][]byte{data[:12]}, 0, false, ErrMalformed, ""},
		"message cut off":       {[][]byte{data[:18]}, 0, false, ErrMalformed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := reply{seq: seq}
			var done bool
			var err error
			for _, d := range tc.in {
				if done, err = r.add(d); err != nil || done {
					break
				}
			}
			if done != tc.done || !errors.Is(err, tc.err) || len(r.payloads) != tc.want {
				t.Errorf("done %v, %d payloads, error %v", done, len(r.payloads), err)
			}
			var st *statusError
			if errors.As(err, &st) && st.text != tc.text {
				t.Errorf("text %q, want %q", st.text, tc.text)
			}
		})
	}
}

// TestReplyCopies guards the buffer: the socket reuses it for the next datagram.
func TestReplyCopies(t *testing.T) {
	d := packet(0x1401, 0, 1, []byte("data"))
	r := reply{seq: 1}
	if _, err := r.add(d); err != nil {
		t.Fatal(err)
	}
	clear(d)
	if !bytes.Equal(r.payloads[0], []byte("data")) {
		t.Errorf("payload changed to %q", r.payloads[0])
	}
}
