package rdmanl

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/hex"
	"os"
	"strings"
	"syscall"
	"testing"
)

// fake answers requests from a list, in order.
type fake struct {
	answers []answer
	typ     []uint16
	attrs   [][]attr
}

type answer struct {
	payloads [][]byte
	err      error
}

func (f *fake) exchange(_ context.Context, typ uint16, _ bool, attrs []attr) ([][]byte, error) {
	f.typ = append(f.typ, typ)
	f.attrs = append(f.attrs, attrs)
	if len(f.answers) == 0 {
		return nil, syscall.EIO
	}
	a := f.answers[0]
	f.answers = f.answers[1:]
	return a.payloads, a.err
}

func (f *fake) close() error { return nil }

// answering returns a client that gets one answer.
func answering(payloads ...[]byte) *Client {
	return &Client{&fake{answers: []answer{{payloads: payloads}}}}
}

// captured reads the answers of a real kernel, by label.
func captured(t testing.TB, kernel string) map[string][][]byte {
	t.Helper()
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the captures come from a little-endian machine")
	}
	f, err := os.Open("testdata/" + kernel + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := make(map[string][][]byte)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		label, text, ok := strings.Cut(sc.Text(), " ")
		if !ok || label == "#" {
			continue
		}
		b, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		out[label] = append(out[label], b)
	}
	return out
}

// encode makes an attribute with payload.
func encode(typ uint16, payload ...byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, uint16(attrHeaderLen+len(payload)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = append(b, payload...)
	return append(b, make([]byte, align4(len(b))-len(b))...)
}

// packet makes a message with header.
func packet(typ, flags uint16, seq uint32, data []byte) []byte {
	b := binary.NativeEndian.AppendUint32(nil, uint32(nlmsgHeaderLen+len(data)))
	b = binary.NativeEndian.AppendUint16(b, typ)
	b = binary.NativeEndian.AppendUint16(b, flags)
	b = binary.NativeEndian.AppendUint32(b, seq)
	b = binary.NativeEndian.AppendUint32(b, 0)
	b = append(b, data...)
	return append(b, make([]byte, align4(len(b))-len(b))...)
}

func status(errno syscall.Errno, rest ...byte) []byte {
	return append(binary.NativeEndian.AppendUint32(nil, uint32(-int32(errno))), rest...)
}
