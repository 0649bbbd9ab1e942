package plain

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                     "",
		"rdma-ping-0: ABC":     "rdma-ping-0: ABC",
		"größe → 4 µs, 漢字":     "größe → 4 µs, 漢字",
		"a\x1b[2Jb\nc\td\re":   `a\x1b[2Jb\nc\td\re`,
		"\u009b2J\xff\x00\x7f": `\u009b2J\xff\x00\x7f`,
		"user\u202egpj.exe":    `user\u202egpj.exe`,
		"\u2066a\u2069\u200b":  `\u2066a\u2069\u200b`,
		"\u00a0\ufeff":         `\u00a0\ufeff`,
		"tag\U000e0041":        `tag\U000e0041`,
		"\ufffd":               "\ufffd", // itself, and no broken byte
		"half\xe6\xbc":         `half\xe6\xbc`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got, want := Lines("a\nb\x1b\u2028"), "a\nb"+`\x1b\u2028`; got != want {
		t.Errorf("lines: got %q, want %q", got, want)
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x1b[2J\u202e\xff")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Text(s) {
			if !unicode.IsPrint(r) {
				t.Errorf("%q: %q is left", s, r)
			}
		}
		if got := Lines(s); !utf8.ValidString(got) || strings.Count(got, "\n") != strings.Count(s, "\n") || Text(Text(s)) != Text(s) {
			t.Errorf("%q: lines %q", s, got)
		}
	})
}
