package ringtest

import "testing"

func TestCallee(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"function", "  sq.go:48\t0x1a2b\te800000000\t\tCALL 0x1a30\t\t[1:5]R_CALL:github.com/x/rxe.putSGEs\t", "putSGEs"},
		{"method", "  sq.go:50\t0x1a2b\te800000000\t\tCALL 0x1a30\t\t[1:5]R_CALL:x/rxe.(*sendQueue).stop", "(*sendQueue).stop"},
		{"of the runtime", "  wqe.go:80\t0x1a2b\te800000000\t\tCALL 0x1a30\t\t[1:5]R_CALL:runtime.panicdottypeE<1>\t", "panicdottypeE"},
		{"in a register", "  sq.go:85\t0x1a2b\tffd1\t\t\tCALL CX\t\t[0:0]R_CALLIND", Interface},
		{"by a jump", "  sq.go:85\t0x1a2b\te900000000\t\tJMP 0x1a30\t\t[1:5]R_CALL:x/rxe.(*sendQueue).slow", "(*sendQueue).slow"},
		{"within", "  sq.go:85\t0x1a2b\tebf0\t\t\tJMP 0x1a10", ""},
		{"none", "  sq.go:85\t0x1a2b\t4889c8\t\tMOVQ CX, AX", ""},
		{"unreadable", "\tCALL ?", "\tCALL ?"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := callee(tt.line); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
