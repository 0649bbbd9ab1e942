package abi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// uapiHeaders are the headers of include/uapi/rdma that this package mirrors.
var uapiHeaders = []string{
	"rdma_user_cm.h",
	"ib_user_verbs.h",
	"ib_user_sa.h",
	"rdma_user_ioctl.h",
	"rdma_user_ioctl_cmds.h",
	"ib_user_ioctl_cmds.h",
	"ib_user_ioctl_verbs.h",
	"rdma_netlink.h",
	"rdma_user_rxe.h",
	"siw-abi.h",
}

// TestLayout proves the package against the C compiler: every struct, member
// and constant of the headers has the same layout and value here.
func TestLayout(t *testing.T) {
	dir, cc, exact := findHeaders(t)
	h := readHeaders(t, dir)
	includes := make([]string, len(uapiHeaders))
	for i, name := range uapiHeaders {
		includes[i] = "rdma/" + name
	}
	m, err := parseProbe(runProbe(t, cc, dir, probeSource(includes, h)))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range compare(h, m, loadPackage(t), exact) {
		t.Error(d)
	}
	t.Logf("%s: %d structs, %d members, %d constants", dir, len(m.aggregates), len(m.members), len(m.constants))
}

// readHeaders parses all headers into one.
func readHeaders(t *testing.T, dir string) *cHeader {
	t.Helper()
	all := new(cHeader)
	for _, name := range uapiHeaders {
		src, err := os.ReadFile(filepath.Join(dir, "rdma", name))
		if err != nil {
			t.Fatal(err)
		}
		h, err := parseHeader(string(src))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all.aggregates = append(all.aggregates, h.aggregates...)
		all.enums = append(all.enums, h.enums...)
		all.macros = append(all.macros, h.macros...)
	}
	return all
}

// TestSockaddrLayout does the same for the socket addresses, whose headers are
// not RDMA's own. struct sockaddr_ib is in no installed header.
func TestSockaddrLayout(t *testing.T) {
	dir, cc, _ := findHeaders(t)
	members := []struct{ c, member, goType, goField string }{
		{"struct sockaddr_in", "sin_family", "SockaddrIn", "Family"},
		{"struct sockaddr_in", "sin_port", "SockaddrIn", "Port"},
		{"struct sockaddr_in", "sin_addr", "SockaddrIn", "Addr"},
		{"struct sockaddr_in6", "sin6_family", "SockaddrIn6", "Family"},
		{"struct sockaddr_in6", "sin6_port", "SockaddrIn6", "Port"},
		{"struct sockaddr_in6", "sin6_flowinfo", "SockaddrIn6", "FlowInfo"},
		{"struct sockaddr_in6", "sin6_addr", "SockaddrIn6", "Addr"},
		{"struct sockaddr_in6", "sin6_scope_id", "SockaddrIn6", "ScopeID"},
		{"struct __kernel_sockaddr_storage", "ss_family", "SockaddrStorage", "Family"},
	}
	var src strings.Builder
	src.WriteString("#include <stdio.h>\n#include <stddef.h>\n#include <linux/socket.h>\n#include <linux/in.h>\n#include <linux/in6.h>\nint main(void)\n{\n")
	for _, m := range members {
		fmt.Fprintf(&src, `printf("T\t%s\t%%zu\t%%zu\n", sizeof(%s), _Alignof(%s));`+"\n", m.c, m.c, m.c)
		fmt.Fprintf(&src, `printf("M\t%s.%s\t%%zu\t%%zu\t0\n", offsetof(%s, %s), sizeof(((%s *)0)->%s));`+"\n",
			m.c, m.member, m.c, m.member, m.c, m.member)
	}
	src.WriteString("return 0;\n}\n")
	got, err := parseProbe(runProbe(t, cc, dir, src.String()))
	if err != nil {
		t.Fatal(err)
	}
	p := loadPackage(t)
	for _, m := range members {
		typ := p.types[m.goType]
		if want := got.aggregates[m.c]; typ.Size() != want.size || uintptr(typ.Align()) != want.align {
			t.Errorf("%s: size %d, alignment %d in C; %d, %d in Go", m.c, want.size, want.align, typ.Size(), typ.Align())
		}
		f, _ := typ.FieldByName(m.goField)
		if want := got.members[m.c+"."+m.member]; f.Offset != want.offset || f.Type.Size() != want.size {
			t.Errorf("%s.%s: offset %d, size %d in C; %d, %d in Go", m.c, m.member, want.offset, want.size, f.Offset, f.Type.Size())
		}
	}
}
