package abi

import (
	"fmt"
	"regexp"
	"strings"
)

// This file reads kernel headers: just enough C to find every struct, union,
// member, enumerator and macro by name. What a name is worth (size, offset,
// value) is left to the C compiler, see probe_test.go.

// cHeader is what a header declares.
type cHeader struct {
	aggregates []*cAggregate
	enums      []cEnum
	macros     []cMacro
}

// cAggregate is a struct or union; tag is empty for one without a name.
type cAggregate struct {
	kind, tag string
	members   []cMember
}

// cMember is a member of an aggregate. Its type is either spelled in ctype
// ("__u32", "struct x", "*" for any pointer) or written inline. name is empty
// for an unnamed union or struct.
type cMember struct {
	name, ctype string
	inline      *cAggregate
	array       bool
	flexible    bool // array without a size
}

type cEnum struct {
	tag   string
	names []string
}

// cMacro is a #define; function is set for one with parameters.
type cMacro struct {
	name, body string
	function   bool
}

var (
	cComment = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	cDefine  = regexp.MustCompile(`^\s*#\s*define\s+(\w+)(\()?(.*)$`)
	cToken   = regexp.MustCompile(`\w+|[^\s\w]`)
	// Macros of the headers that declare a member.
	cPointer   = regexp.MustCompile(`RDMA_UAPI_PTR\([^,()]*,\s*(\w+)\)`)
	cFlexArray = regexp.MustCompile(`__DECLARE_FLEX_ARRAY\(([^,()]*),\s*(\w+)\)`)
)

// parseHeader reads the text of one header.
func parseHeader(src string) (*cHeader, error) {
	h := new(cHeader)
	src = cComment.ReplaceAllString(src, " ")
	src = strings.ReplaceAll(src, "\\\n", " ")
	var code strings.Builder
	for line := range strings.Lines(src) {
		if m := cDefine.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			h.macros = append(h.macros, cMacro{name: m[1], function: m[2] != "", body: strings.TrimSpace(m[3])})
		} else if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			code.WriteString(line)
		}
	}
	text := cPointer.ReplaceAllString(code.String(), "__aligned_u64 $1")
	text = cFlexArray.ReplaceAllString(text, "$1 $2[]")
	p := &cParser{tokens: cToken.FindAllString(text, -1)}
	for p.err == nil && p.peek() != "" {
		p.declaration(h)
	}
	return h, p.err
}

// cParser walks the tokens of a header. After an error it returns empty tokens.
type cParser struct {
	tokens []string
	err    error
}

func (p *cParser) peek() string {
	if p.err != nil || len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *cParser) next() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	} else if p.err == nil {
		p.err = fmt.Errorf("header ends inside a declaration")
	}
	return t
}

func (p *cParser) accept(t string) bool {
	if p.peek() != t {
		return false
	}
	p.next()
	return true
}

func (p *cParser) expect(t string) {
	if got := p.next(); got != t && p.err == nil {
		p.err = fmt.Errorf("found %q instead of %q before %q", got, t, strings.Join(p.tokens[:min(5, len(p.tokens))], " "))
	}
}

// tag returns the name after struct, union or enum, if there is one.
func (p *cParser) tag() string {
	if p.peek() == "{" {
		return ""
	}
	return p.next()
}

func (p *cParser) declaration(h *cHeader) {
	switch kind := p.next(); kind {
	case "struct", "union":
		tag := p.tag()
		h.aggregates = append(h.aggregates, p.aggregate(kind, tag))
	case "enum":
		tag := p.tag()
		h.enums = append(h.enums, p.enum(tag))
	default:
		p.err = fmt.Errorf("cannot read a declaration that starts with %q", kind)
	}
	p.expect(";")
}

func (p *cParser) enum(tag string) cEnum {
	e := cEnum{tag: tag}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		e.names = append(e.names, p.next())
		if p.accept("=") {
			p.expression()
		}
		if p.peek() != "}" {
			p.expect(",")
		}
	}
	return e
}

// expression skips to the comma or brace that ends an enumerator.
func (p *cParser) expression() {
	for depth := 0; p.err == nil; p.next() {
		switch p.peek() {
		case "(":
			depth++
		case ")":
			depth--
		case ",", "}":
			if depth == 0 {
				return
			}
		case "":
			p.next() // reports the end
		}
	}
}

func (p *cParser) aggregate(kind, tag string) *cAggregate {
	a := &cAggregate{kind: kind, tag: tag}
	p.expect("{")
	for p.err == nil && !p.accept("}") {
		a.members = append(a.members, p.members()...)
	}
	return a
}

// members reads one declaration inside an aggregate, which may declare several
// members of one type.
func (p *cParser) members() []cMember {
	var typ cMember
	typ.ctype = p.next()
	if kind := typ.ctype; kind == "struct" || kind == "union" {
		tag := p.tag()
		typ.ctype = kind + " " + tag
		if p.peek() == "{" {
			typ.ctype, typ.inline = "", p.aggregate(kind, tag)
		}
	}
	if p.accept(";") {
		return []cMember{typ}
	}
	var list []cMember
	for p.err == nil {
		list = append(list, p.declarator(typ))
		if p.accept(";") {
			break
		}
		p.expect(",")
	}
	return list
}

func (p *cParser) declarator(m cMember) cMember {
	for p.accept("*") {
		m.ctype = "*"
	}
	m.name = p.next()
	for p.accept("[") {
		m.array = true
		m.flexible = p.peek() == "]" || p.peek() == "0"
		for p.err == nil && !p.accept("]") {
			p.next()
		}
	}
	return m
}
