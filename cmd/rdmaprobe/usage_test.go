package main

import (
	"strings"
	"testing"
)

// TestUsage: mistakes are named in words of the command line, and not in those
// of the library that reads it.
func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"cmping 10.0.0.7 -p x":            `-p, --port: "x" is no number that this flag takes`,
		"cmping 10.0.0.7 -p 65536":        `-p, --port: "65536" is too large, or negative`,
		"ping 10.0.0.7 --timeout soon":    `-W, --timeout: "soon" is no time: write 500ms, 2s or 1m`,
		"ping 10.0.0.7 -W 5x":             `-W, --timeout: "5x" is no time: write 500ms, 2s or 1m`,
		"ping 10.0.0.7 --quiet=perhaps":   `-q, --quiet: "perhaps" is neither true nor false`,
		"res everything":                  `res takes no argument: "everything" is one too many`,
		"rxe list x":                      `rxe list takes no argument: "x" is one too many`,
		"bogus":                           `unknown command "bogus" for "rdmaprobe"`,
		"lst":                             `unknown command "lst" for "rdmaprobe": did you mean list?`,
		"explain RP-XYZ-001":              `there is no finding "RP-XYZ-001": rdmaprobe explain lists them all`,
		"list --bogus":                    `unknown flag: --bogus`,
		"ping 10.0.0.7 10.0.0.8":          "one argument is wanted, the address to ping, and not 2",
		"ping":                            "the address to ping is missing",
		"gids --to fe80::7%eth9":          "address fe80::7%eth9: there is no interface eth9",
		"watch --interval 0":              "--interval 0s: at least 10ms",
		"ping 10.0.0.7:99999":             `port "99999" is not a number from 0 to 65535`,
		"cmping 10.0.0.7:4420 --port 111": "port 4420 in the address and -p 111: which?",
	} {
		r := rxeWorld().command(t, strings.Fields(args)...)
		wantCode(t, r, exitUsage)
		wantNarrow(t, r)
		if !strings.Contains(strings.Join(strings.Fields(r.stderr), " "), want) {
			t.Errorf("%s: no %q in\n%s", args, want, r.stderr)
		}
		if strings.Contains(r.stderr, "strconv") || strings.Contains(r.stderr, "invalid duration") {
			t.Errorf("%s: words of the library:\n%s", args, r.stderr)
		}
	}
}
