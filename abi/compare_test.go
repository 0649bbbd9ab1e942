package abi

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// This file compares what the headers say with what this package says, by name.

// notConstants are the macros that have no constant here, with the reason.
var notConstants = map[string]string{
	"RDMA_NL_GET_CLIENT": "takes a message type apart; a shift in Go",
	"RDMA_NL_GET_OP":     "takes a message type apart; a mask in Go",
	"RDMA_NL_GET_TYPE":   "builds a message type; a shift in Go",
	"RDMA_UAPI_PTR":      "declares a member that holds a user address",
}

// removed are names of old headers that the newest does not have any more.
var removed = map[string]string{
	"UVERBS_UDATA_DRIVER_DATA_NS":   "became UVERBS_ID_DRIVER_NS",
	"UVERBS_UDATA_DRIVER_DATA_FLAG": "became UVERBS_ID_DRIVER_NS",
}

// narrowed are constants that have fewer bits here, with the number of bits.
var narrowed = map[string]uint{
	"RDMA_NLA_TYPE_MASK": 16, // an int in C, applied to the 16-bit nla_type
}

var (
	// growing are the names of ends of enums, which newer kernels move.
	growing = regexp.MustCompile(`_MAX$|_NUM_(OPS|GROUPS|CLIENTS)$|^SIW_NUM_`)
	// spare are the names of members that newer kernels put to use.
	spare = regexp.MustCompile(`^(reserved|pad)`)
)

// constants returns the names the C program can print as numbers.
func (h *cHeader) constants() []string {
	var names []string
	for _, e := range h.enums {
		names = append(names, e.names...)
	}
	for _, m := range h.macros {
		if m.isConstant() && !strings.HasPrefix(m.body, `"`) {
			names = append(names, m.name)
		}
	}
	return names
}

// strings returns the names of string macros.
func (h *cHeader) strings() []string {
	var names []string
	for _, m := range h.macros {
		if m.isConstant() && strings.HasPrefix(m.body, `"`) {
			names = append(names, m.name)
		}
	}
	return names
}

// isConstant is false for functions, include guards and excluded macros.
func (m cMacro) isConstant() bool {
	return !m.function && m.body != "" && notConstants[m.name] == ""
}

// comparison collects the differences between a header and the package.
type comparison struct {
	h     *cHeader
	m     *measured
	p     *goPackage
	exact bool // the header is the newest: both sides have the same names
	used  map[string]bool
	diffs []string
}

// compare returns one line per difference. With exact unset it accepts what
// older kernels lack.
func compare(h *cHeader, m *measured, p *goPackage, exact bool) []string {
	c := &comparison{h: h, m: m, p: p, exact: exact, used: map[string]bool{}}
	for _, a := range h.aggregates {
		c.aggregate(a)
	}
	for _, e := range h.enums {
		c.enum(e)
	}
	for _, mac := range h.macros {
		c.macro(mac)
	}
	if exact {
		c.surplus()
	}
	slices.Sort(c.diffs)
	return c.diffs
}

func (c *comparison) report(format string, args ...any) {
	c.diffs = append(c.diffs, fmt.Sprintf(format, args...))
}

func (c *comparison) aggregate(a *cAggregate) {
	name := a.kind + " " + a.tag
	t, ok := c.p.types[goName(a.tag)]
	c.used[goName(a.tag)] = true
	if !ok {
		c.report("%s: no Go type %s", name, goName(a.tag))
		return
	}
	want, ok := c.m.aggregates[name]
	if !ok {
		c.report("%s: not measured", name)
		return
	}
	if size := t.Size(); size != want.size && (c.exact || size < want.size) {
		c.report("%s: size %d in C, %d in Go", name, want.size, size)
	}
	if align := uintptr(t.Align()); align != want.align {
		c.report("%s: alignment %d in C, %d in Go", name, want.align, align)
	}
	c.members(place{aggregate: name, t: t}, a.members)
}

// place is where members stand: in C aggregate.path, which starts at byte base
// of the aggregate, in Go in t. prefix precedes the names of accessors.
type place struct {
	aggregate, path, prefix string
	base                    uintptr
	t                       reflect.Type
}

func (c *comparison) members(at place, members []cMember) {
	for _, m := range members {
		switch {
		case m.flexible:
		case m.name == "" && m.inline.kind == "union":
			c.unnamedUnion(at, m.inline)
		case m.name == "":
			c.members(at, m.inline.members)
		default:
			c.member(at, m, at.t)
		}
	}
	if at.prefix == "" {
		c.surplusFields(at)
	}
}

// unnamedUnion compares a union whose members are members of the struct. Those
// of an unnamed struct in it may be inside the Go type of another member.
func (c *comparison) unnamedUnion(at place, u *cAggregate) {
	var inner []reflect.Type
	for _, m := range u.members {
		if m.name == "" || m.flexible {
			continue
		}
		c.member(at, m, at.t)
		if s, ok := lookup(at.t, goName(m.name)); ok && s.offset == 0 && s.typ.Kind() == reflect.Struct {
			inner = append(inner, s.typ)
		}
	}
	for _, m := range u.members {
		if m.name != "" {
			continue
		}
		for _, f := range m.inline.members {
			in := at.t
			for _, t := range inner {
				if _, ok := lookup(t, goName(f.name)); ok {
					in = t
				}
			}
			c.member(at, f, in)
		}
	}
}

// member compares one named member with its place in the Go type in.
func (c *comparison) member(at place, m cMember, in reflect.Type) {
	full := at.path + m.name
	name := at.aggregate + "." + full
	goField := at.prefix + goName(m.name)
	slot, ok := lookup(in, goField)
	c.used[in.Name()+"."+goField] = true
	if !ok {
		c.report("%s: no field or accessor %s.%s", name, in.Name(), goField)
		return
	}
	want, ok := c.m.members[name]
	if !ok {
		c.report("%s: not measured", name)
		return
	}
	if !c.exact && spare.MatchString(m.name) {
		return
	}
	if slot.offset != want.offset-at.base {
		c.report("%s: offset %d in C, %d in Go", name, want.offset-at.base, slot.offset)
	}
	if slot.typ.Size() != want.size {
		c.report("%s: size %d in C, %d in Go", name, want.size, slot.typ.Size())
	}
	if m.inline == nil {
		c.memberType(name, m, want, slot.typ)
		return
	}
	next := place{aggregate: at.aggregate, path: full + ".", base: want.offset, t: slot.typ}
	if m.inline.kind == "union" {
		next.t, next.prefix, next.base = in, goField, at.base
	}
	c.members(next, m.inline.members)
}

// memberType compares what a member is made of.
func (c *comparison) memberType(name string, m cMember, want cSlot, t reflect.Type) {
	if (t.Kind() == reflect.Array) != m.array {
		c.report("%s: array in only one of C and Go (%v)", name, t)
		return
	}
	if m.array {
		t = t.Elem()
		if t.Size() != want.elem {
			c.report("%s: elements of %d bytes in C, %d in Go", name, want.elem, t.Size())
		}
	}
	if _, tag, ok := strings.Cut(m.ctype, " "); ok {
		if t.Name() != goName(tag) {
			c.report("%s: type %s in C, %s in Go", name, m.ctype, t)
		}
		return
	}
	wantKind := reflect.Uint8
	if strings.HasPrefix(m.ctype, "__s") {
		wantKind = reflect.Int8
	}
	// Kinds of one signedness are ordered by size.
	for n := uintptr(1); n < want.elem; n *= 2 {
		wantKind++
	}
	if t.Kind() != wantKind {
		c.report("%s: type %s in C, %s in Go", name, m.ctype, t)
	}
}

func (c *comparison) enum(e cEnum) {
	typ := ""
	if e.tag != "" {
		typ = goName(e.tag)
	}
	for _, name := range e.names {
		if c.constant(name) && c.p.consts[name].typ != typ {
			c.report("%s: Go type %q, want %q", name, c.p.consts[name].typ, typ)
		}
	}
}

func (c *comparison) macro(m cMacro) {
	switch {
	case m.isConstant():
		if c.constant(m.name) && c.p.consts[m.name].typ != "" {
			c.report("%s: Go type %q, want none", m.name, c.p.consts[m.name].typ)
		}
	case m.function && notConstants[m.name] == "":
		c.report("%s: macro with parameters that is not excluded", m.name)
	}
}

// constant compares a value and reports whether both sides have it.
func (c *comparison) constant(name string) bool {
	c.used[name] = true
	got, ok := c.p.consts[name]
	if !ok {
		if c.exact || removed[name] == "" {
			c.report("%s: no Go constant", name)
		}
		return false
	}
	want, ok := c.m.constants[name]
	if !ok {
		c.report("%s: not measured", name)
		return false
	}
	if bits := narrowed[name]; bits != 0 {
		var v int64
		fmt.Sscan(want, &v)
		want = fmt.Sprint(uint64(v) & (1<<bits - 1))
	}
	if got.value != want && (c.exact || !growing.MatchString(name)) {
		c.report("%s: %s in C, %s in Go", name, want, got.value)
	}
	return true
}

// surplusFields reports Go fields that the C struct does not have.
func (c *comparison) surplusFields(at place) {
	if !c.exact {
		return
	}
	for f := range at.t.Fields() {
		if f.Name != "_" && !c.used[at.t.Name()+"."+f.Name] {
			c.report("%s.%s: no such member in %s", at.t.Name(), f.Name, at.aggregate)
		}
	}
}

// surplus reports Go structs and constants that no header has. Files that are
// not named after a header hold things from elsewhere.
func (c *comparison) surplus() {
	for name, k := range c.p.consts {
		if ofHeader(k.file) && !c.used[name] {
			c.report("%s: not in the headers", name)
		}
	}
	for name, t := range c.p.types {
		if !c.used[name] && !slices.Contains(elsewhere, name) && !c.nested(t) {
			c.report("%s: no such struct in the headers", name)
		}
	}
}

// nested reports whether t stands for an unnamed struct, whose members were
// compared with the struct around it.
func (c *comparison) nested(t reflect.Type) bool {
	for f := range t.Fields() {
		if f.Name != "_" && !c.used[t.Name()+"."+f.Name] {
			return false
		}
	}
	return true
}

// elsewhere are the structs that are not from include/uapi/rdma.
var elsewhere = []string{"SockaddrStorage", "SockaddrIn", "SockaddrIn6", "SockaddrIB"}

// ofHeader reports whether a Go file mirrors one of the headers.
func ofHeader(file string) bool {
	for _, h := range uapiHeaders {
		base := strings.NewReplacer("-", "_", ".h", "").Replace(h)
		if strings.HasPrefix(file, base) {
			return true
		}
	}
	return false
}
