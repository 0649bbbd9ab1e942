package main

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"unicode"
	"unicode/utf16"

	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
)

// plainWriter is where results for people go. Commands escape what comes from outside where
// they know its place in a line (plain.Text); this keeps what they have overlooked from the
// terminal. Colours are the program's own.
type plainWriter struct{ w io.Writer }

// colours are the sequences of painter.
var colours = regexp.MustCompile("\x1b\\[(?:3[1-4]|0)m")

// Write takes texts with whole characters, as the functions of package fmt write them.
func (p plainWriter) Write(b []byte) (int, error) {
	if _, err := io.WriteString(p.w, plainText(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

func plainText(b []byte) string {
	var out []byte
	for len(b) > 0 {
		at := colours.FindIndex(b)
		if at == nil {
			at = []int{len(b), len(b)}
		}
		out = append(out, plain.Lines(string(b[:at[0]]))...)
		out = append(out, b[at[0]:at[1]]...)
		b = b[at[1]:]
	}
	return string(out)
}

// plainJSON writes what a terminal would not show as JSON does, so that the values stay.
// encoding/json escapes some of it only.
func plainJSON(b []byte) []byte {
	show := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if bytes.IndexFunc(b, func(r rune) bool { return !show(r) }) < 0 {
		return b
	}
	var out bytes.Buffer
	for _, r := range string(b) { // the encoder writes valid UTF-8
		switch {
		case show(r):
			out.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
