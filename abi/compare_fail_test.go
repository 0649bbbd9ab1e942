package abi

import (
	"maps"
	"reflect"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// The proof is worth what it notices. These tests feed it one mistake at a time.

const demoHeader = `
#define DEMO_SIZE 4
#define DEMO_TEXT "text"
enum demo_kind { DEMO_A, DEMO_B };
enum { DEMO_MAX = 2 };
struct demo { __u32 id; __s32 fd; __u8 raw[DEMO_SIZE]; union { __u32 x; __u16 y; } u; __u64 tail[]; };`

// demoPackage returns what a right package would hold for demoHeader, with the
// given Go type for struct demo.
func demoPackage(demo any) *goPackage {
	p := &goPackage{types: map[string]reflect.Type{}, consts: map[string]goConst{
		"DEMO_SIZE": {"4", "", "rdma_user_cm.go"},
		"DEMO_TEXT": {`"text"`, "", "rdma_user_cm.go"},
		"DEMO_A":    {"0", "DemoKind", "rdma_user_cm.go"},
		"DEMO_B":    {"1", "DemoKind", "rdma_user_cm.go"},
		"DEMO_MAX":  {"2", "", "rdma_user_cm.go"},
		"OTHER":     {"7", "", "sockaddr.go"},
	}}
	if demo != nil {
		p.types["Demo"] = reflect.TypeOf(demo)
	}
	return p
}

func demoMeasured() *measured {
	return &measured{
		aggregates: map[string]cSize{"struct demo": {16, 8}},
		members: map[string]cSlot{
			"struct demo.id": {0, 4, 4}, "struct demo.fd": {4, 4, 4}, "struct demo.raw": {8, 4, 1},
			"struct demo.u": {12, 4, 4}, "struct demo.u.x": {12, 4, 4}, "struct demo.u.y": {12, 2, 2},
		},
		constants: map[string]string{"DEMO_SIZE": "4", "DEMO_TEXT": `"text"`, "DEMO_A": "0", "DEMO_B": "1", "DEMO_MAX": "2"},
	}
}

// ptrAt returns the address n bytes into *v.
func ptrAt[T any](v *T, n int) unsafe.Pointer { return unsafe.Add(unsafe.Pointer(v), n) }

// demoRight is the right Go type.
type demoRight struct {
	_   [0]uint64
	ID  uint32
	FD  int32
	Raw [4]uint8
	U   uint32
}

func (p *demoRight) UX() *uint32 { return &p.U }
func (p *demoRight) UY() *uint16 { return (*uint16)(ptrAt(p, 12)) }

// Go types with one mistake each.
type (
	demoOffset struct {
		_   [0]uint64
		FD  int32
		ID  uint32
		Raw [4]uint8
		U   uint32
	}
	demoKinds struct {
		_   [0]uint64
		ID  uint32
		FD  uint32
		Raw uint32
		U   uint32
	}
	demoSizes struct {
		ID    uint32
		FD    int32
		Raw   [4]uint8
		U     uint32
		Extra uint16
	}
)

func (p *demoOffset) UX() *uint32 { return &p.U }
func (p *demoOffset) UY() *uint16 { return (*uint16)(ptrAt(p, 12)) }
func (p *demoKinds) UX() *uint32  { return &p.U }
func (p *demoKinds) UY() *uint16  { return (*uint16)(ptrAt(p, 12)) }
func (p *demoSizes) UX() *uint32  { return &p.ID }

// mistakes are by name what is wrong and what the comparison says of it.
type mistakes map[string]struct {
	demo   any
	change func(*goPackage)
	header string // added to demoHeader
	want   []string
}

func (m mistakes) run(t *testing.T) {
	for name, tc := range m {
		t.Run(name, func(t *testing.T) {
			h, err := parseHeader(demoHeader + tc.header)
			if err != nil {
				t.Fatal(err)
			}
			p := demoPackage(tc.demo)
			if tc.change != nil {
				tc.change(p)
			}
			if diff := cmp.Diff(tc.want, compare(h, demoMeasured(), p, true)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestCompareFindsMistakes(t *testing.T) {
	mistakes{
		"right": {demo: demoRight{}},
		"struct missing": {
			want: []string{"struct demo: no Go type Demo"},
		},
		"order of fields": {demo: demoOffset{}, want: []string{
			"struct demo.fd: offset 4 in C, 0 in Go",
			"struct demo.id: offset 0 in C, 4 in Go",
		}},
		"types of fields": {demo: demoKinds{}, want: []string{
			"struct demo.fd: type __s32 in C, uint32 in Go",
			"struct demo.raw: array in only one of C and Go (uint32)",
		}},
		"sizes, surplus field, accessors": {demo: demoSizes{}, want: []string{
			"demoSizes.Extra: no such member in struct demo",
			"struct demo.u.x: offset 12 in C, 0 in Go",
			"struct demo.u.y: no field or accessor demoSizes.UY",
			"struct demo: alignment 8 in C, 4 in Go",
			"struct demo: size 16 in C, 20 in Go",
		}},
	}.run(t)
}

func TestCompareFindsNames(t *testing.T) {
	mistakes{
		"values and types of constants": {
			demo: demoRight{},
			change: func(p *goPackage) {
				p.consts["DEMO_B"] = goConst{"2", "", "rdma_user_cm.go"}
				p.consts["DEMO_SIZE"] = goConst{"5", "DemoKind", "rdma_user_cm.go"}
				p.consts["DEMO_TEXT"] = goConst{`"other"`, "", "rdma_user_cm.go"}
			},
			want: []string{
				"DEMO_B: 1 in C, 2 in Go",
				`DEMO_B: Go type "", want "DemoKind"`,
				"DEMO_SIZE: 4 in C, 5 in Go",
				`DEMO_SIZE: Go type "DemoKind", want none`,
				`DEMO_TEXT: "text" in C, "other" in Go`,
			},
		},
		"names on one side only": {
			demo: demoRight{},
			change: func(p *goPackage) {
				delete(p.consts, "DEMO_A")
				delete(p.consts, "DEMO_SIZE")
				p.consts["DEMO_OLD"] = goConst{"1", "", "rdma_user_cm_conn.go"}
				p.types["Old"] = reflect.TypeOf(struct{ A uint32 }{})
			},
			want: []string{
				"DEMO_A: no Go constant",
				"DEMO_OLD: not in the headers",
				"DEMO_SIZE: no Go constant",
				"Old: no such struct in the headers",
			},
		},
		"new in the header": {
			demo:   demoRight{},
			header: "struct fresh { __u32 a; };\nenum { FRESH };\n#define FRESH_FN(x) (x)\n",
			want: []string{
				"FRESH: no Go constant",
				"FRESH_FN: macro with parameters that is not excluded",
				"struct fresh: no Go type Fresh",
			},
		},
	}.run(t)
}

// With headers of an older kernel, what they lack is no difference, and what
// they have must still match.
func TestCompareOlder(t *testing.T) {
	h, err := parseHeader(demoHeader)
	if err != nil {
		t.Fatal(err)
	}
	p := demoPackage(demoRight{})
	p.consts["DEMO_NEW"] = goConst{"9", "", "rdma_user_cm.go"}
	p.consts["DEMO_MAX"] = goConst{"3", "", "rdma_user_cm.go"}
	m := demoMeasured()
	m.aggregates = maps.Clone(m.aggregates)
	m.aggregates["struct demo"] = cSize{8, 8}
	if diff := cmp.Diff([]string(nil), compare(h, m, p, false)); diff != "" {
		t.Errorf("older header: (-want +got)\n%s", diff)
	}
	p.consts["DEMO_B"] = goConst{"5", "DemoKind", "rdma_user_cm.go"}
	m.aggregates["struct demo"] = cSize{24, 8}
	want := []string{"DEMO_B: 1 in C, 5 in Go", "struct demo: size 24 in C, 16 in Go"}
	if diff := cmp.Diff(want, compare(h, m, p, false)); diff != "" {
		t.Errorf("older header with mistakes: (-want +got)\n%s", diff)
	}
}

// A name that the C program did not print must not count as proved.
func TestCompareUnmeasured(t *testing.T) {
	h, err := parseHeader(demoHeader)
	if err != nil {
		t.Fatal(err)
	}
	m := demoMeasured()
	delete(m.members, "struct demo.id")
	delete(m.constants, "DEMO_A")
	want := []string{"DEMO_A: not measured", "struct demo.id: not measured"}
	if diff := cmp.Diff(want, compare(h, m, demoPackage(demoRight{}), true)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
