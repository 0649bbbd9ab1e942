package main

import (
	"errors"
	"net/netip"
	"testing"
)

func TestHostPort(t *testing.T) {
	for in, want := range map[string]string{
		"10.0.0.7":           "10.0.0.7:7174",
		"10.0.0.7:9":         "10.0.0.7:9",
		"node7":              "node7:7174",
		"node7.example:80":   "node7.example:80",
		"::1":                "[::1]:7174",
		"[::1]":              "[::1]:7174",
		"[::1]:9":            "[::1]:9",
		"fe80::1%v0":         "[fe80::1%v0]:7174",
		"[fe80::1%v0]":       "[fe80::1%v0]:7174",
		"[fe80::1%v0]:7174":  "[fe80::1%v0]:7174",
		"2001:db8::7:7174":   "[2001:db8::7:7174]:7174", // an address, as it stands
		":9":                 ":9",
		"0.0.0.0:0":          "0.0.0.0:0",
		"fe80::1%v0:7174":    "",
		"a:b:c":              "",
		"10.0.0.7:x":         "",
		"10.0.0.7:65536":     "",
		"10.0.0.7:-1":        "",
		"10.0.0.7:":          "",
		"[10.0.0.7:1]:9":     "",
		"[fe80::1%v0]:7174x": "",
	} {
		got, err := hostPort(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("hostPort(%q) = %q, %v; want %q", in, got, err, want)
		}
		if err != nil && !errors.As(err, new(*usageError)) {
			t.Errorf("hostPort(%q): %T is no usage error", in, err)
		}
	}
}

func TestTargetAddress(t *testing.T) {
	for _, in := range []string{":7174", "10.0.0.7:0", "", "["} {
		if got, err := targetAddress(in); err == nil {
			t.Errorf("targetAddress(%q) = %q", in, got)
		}
	}
}

func TestSourceAddress(t *testing.T) {
	v4, ll := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fe80::1%v0")
	for in, want := range map[string]netip.AddrPort{
		"":                {},
		"10.0.0.1":        netip.AddrPortFrom(v4, 0),
		"10.0.0.1:99":     netip.AddrPortFrom(v4, 99),
		"fe80::1%v0":      netip.AddrPortFrom(ll, 0),
		"[fe80::1%v0]":    netip.AddrPortFrom(ll, 0),
		"[fe80::1%v0]:99": netip.AddrPortFrom(ll, 99),
	} {
		if got, err := sourceAddress(in); err != nil || got != want {
			t.Errorf("sourceAddress(%q) = %v, %v; want %v", in, got, err, want)
		}
	}
	if _, err := sourceAddress("eth0"); !errors.As(err, new(*usageError)) {
		t.Errorf("sourceAddress(eth0): %v", err)
	}
}
