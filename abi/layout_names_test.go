package abi

import (
	"strings"
	"testing"
)

// initialisms are the words that Go names of this package keep in capitals.
var initialisms = strings.Fields(`id qp qpn cq cqe mr pd ah srq mw gid lid ib
	rdma ucm cm wr wc sge ud grh xrcd rwq wq wqe mtu fd ece psn rq sq ip rc uc
	rxe siw abi av sgl dma uid guid lmc sm sl vl`)

// mixedWords are words with a spelling of their own.
var mixedWords = map[string]string{"pkey": "PKey", "qkey": "QKey", "rkey": "RKey", "lkey": "LKey"}

// foreignNames are C types from other headers that have a name of their own here.
var foreignNames = map[string]string{"__kernel_sockaddr_storage": "SockaddrStorage"}

// goName turns the C name of a struct, enum or field into its name in this
// package.
func goName(c string) string {
	if n, ok := foreignNames[c]; ok {
		return n
	}
	var b strings.Builder
	for w := range strings.SplitSeq(c, "_") {
		b.WriteString(goWord(w))
	}
	return b.String()
}

func goWord(w string) string {
	if m, ok := mixedWords[w]; ok {
		return m
	}
	for _, i := range initialisms {
		if w == i {
			return strings.ToUpper(w)
		}
	}
	if w == "" {
		return ""
	}
	return strings.ToUpper(w[:1]) + w[1:]
}

func TestGoName(t *testing.T) {
	for c, want := range map[string]string{
		"rdma_ucm_create_id":        "RDMAUCMCreateID",
		"ib_uverbs_create_qp":       "IBUverbsCreateQP",
		"rxe_send_wqe":              "RXESendWQE",
		"user_handle":               "UserHandle",
		"pad_1":                     "Pad1",
		"_sockaddr_in6":             "SockaddrIn6",
		"invalidate_rkey":           "InvalidateRKey",
		"__kernel_sockaddr_storage": "SockaddrStorage",
	} {
		if got := goName(c); got != want {
			t.Errorf("goName(%q) = %q, want %q", c, got, want)
		}
	}
}
