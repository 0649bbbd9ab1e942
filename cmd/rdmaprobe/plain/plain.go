// Package plain makes text from outside fit for a terminal and for lines of a log: names
// of devices, processes and hosts, what peers send, what files of others hold.
package plain

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s on one line, with all that is no letter, mark, number, punctuation, symbol
// or space written as Go would: "\n", "\x1b", "\u202e" (which reverses what follows), "\xff"
// for bytes that are not UTF-8. Nothing in it moves a cursor or changes the order of
// characters.
func Text(s string) string { return escape(s, func(rune) bool { return false }) }

// Lines is Text for a text of several lines, which stay.
func Lines(s string) string { return escape(s, func(r rune) bool { return r == '\n' }) }

func escape(s string, keep func(rune) bool) string {
	if clean(s, keep) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case keep(r) || unicode.IsPrint(r) && !broken(s[i:], r):
			b.WriteRune(r)
		case broken(s[i:], r):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String()
}

// broken tells whether the character at the start of s is a byte that is not UTF-8.
func broken(s string, r rune) bool {
	if r != utf8.RuneError {
		return false
	}
	_, n := utf8.DecodeRuneInString(s)
	return n == 1
}

func clean(s string, keep func(rune) bool) bool {
	for _, r := range s {
		if r == utf8.RuneError || !unicode.IsPrint(r) && !keep(r) {
			return false
		}
	}
	return true
}
