package abi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

var cmpHeader = cmp.AllowUnexported(cHeader{}, cAggregate{}, cMember{}, cEnum{}, cMacro{})

func TestParseHeader(t *testing.T) {
	tests := map[string]struct {
		src  string
		want cHeader
	}{
		"members of all shapes": {
			src: `struct a { /* not; this */ __u32 x, y; // nor { this
				__u8 raw[2 * (N - 1)]; struct b nested; struct b *ptr; __u64 tail[]; __u64 old[0]; };`,
			want: cHeader{aggregates: []*cAggregate{{kind: "struct", tag: "a", members: []cMember{
				{name: "x", ctype: "__u32"}, {name: "y", ctype: "__u32"},
				{name: "raw", ctype: "__u8", array: true},
				{name: "nested", ctype: "struct b"}, {name: "ptr", ctype: "*"},
				{name: "tail", ctype: "__u64", array: true, flexible: true},
				{name: "old", ctype: "__u64", array: true, flexible: true},
			}}}},
		},
		"nested and unnamed aggregates": {
			src: `union u { struct { __u8 lo; } part; union { __u16 a; __s16 b; }; };`,
			want: cHeader{aggregates: []*cAggregate{{kind: "union", tag: "u", members: []cMember{
				{name: "part", inline: &cAggregate{kind: "struct", members: []cMember{{name: "lo", ctype: "__u8"}}}},
				{inline: &cAggregate{kind: "union", members: []cMember{{name: "a", ctype: "__u16"}, {name: "b", ctype: "__s16"}}}},
			}}}},
		},
		"one type, two members": {
			src: `struct a { union { __u8 x; } src, dst; };`,
			want: cHeader{aggregates: []*cAggregate{{kind: "struct", tag: "a", members: []cMember{
				{name: "src", inline: &cAggregate{kind: "union", members: []cMember{{name: "x", ctype: "__u8"}}}},
				{name: "dst", inline: &cAggregate{kind: "union", members: []cMember{{name: "x", ctype: "__u8"}}}},
			}}}},
		},
		"enums": {
			src: "enum named { A, B = F(1, 2) << 3, };\nenum { C = (A | B) };",
			want: cHeader{enums: []cEnum{{tag: "named", names: []string{"A", "B"}},
				{names: []string{"C"}}}},
		},
		"macros": {
			src: "#ifndef G_H\n#define G_H\n# define ONE 1\n#define TWO \\\n\t(1 + 1)\n#define FN(x) (x)\n#define S \"s\"\n#endif",
			want: cHeader{macros: []cMacro{{name: "G_H"}, {name: "ONE", body: "1"}, {name: "TWO", body: "(1 + 1)"},
				{name: "FN", body: "x) (x)", function: true}, {name: "S", body: `"s"`}}},
		},
		"member macros": {
			src: `struct a { RDMA_UAPI_PTR(void *, p); union { __DECLARE_FLEX_ARRAY(struct s, sge); }; };`,
			want: cHeader{aggregates: []*cAggregate{{kind: "struct", tag: "a", members: []cMember{
				{name: "p", ctype: "__aligned_u64"},
				{inline: &cAggregate{kind: "union", members: []cMember{{name: "sge", ctype: "struct s", array: true, flexible: true}}}},
			}}}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseHeader(tc.src)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(&tc.want, got, cmpHeader); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A header that the parser does not understand must not count as read.
func TestParseHeaderErrors(t *testing.T) {
	for _, src := range []string{
		"int x;", "struct a { __u32 x;", "struct a { __u32 x }", "enum e { A B };", "enum e { A = (1 };", "struct a { __u32 x; }",
	} {
		if h, err := parseHeader(src); err == nil {
			t.Errorf("parseHeader(%q) = %+v, want an error", src, h)
		}
	}
}
