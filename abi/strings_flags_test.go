package abi

import (
	"fmt"
	"strings"
	"testing"
)

// flagTexts are the types with a text per bit.
var flagTexts = map[string]func(uint64) fmt.Stringer{
	"IBQPAttrMask":              func(v uint64) fmt.Stringer { return IBQPAttrMask(v) },
	"IBUverbsAccessFlags":       func(v uint64) fmt.Stringer { return IBUverbsAccessFlags(v) },
	"IBSendFlags":               func(v uint64) fmt.Stringer { return IBSendFlags(v) },
	"IBWCFlags":                 func(v uint64) fmt.Stringer { return IBWCFlags(v) },
	"IBUverbsQPCreateFlags":     func(v uint64) fmt.Stringer { return IBUverbsQPCreateFlags(v) },
	"IBUverbsDeviceCapFlags":    func(v uint64) fmt.Stringer { return IBUverbsDeviceCapFlags(v) },
	"IBUverbsQueryPortCapFlags": func(v uint64) fmt.Stringer { return IBUverbsQueryPortCapFlags(v) },
	"IBUverbsQueryPortFlags":    func(v uint64) fmt.Stringer { return IBUverbsQueryPortFlags(v) },
	"IBUverbsCoreSupport":       func(v uint64) fmt.Stringer { return IBUverbsCoreSupport(v) },
}

func TestEveryFlagHasText(t *testing.T) {
	for name, k := range loadPackage(t).consts {
		text := flagTexts[k.typ]
		if text == nil || name == "IB_UVERBS_ACCESS_OPTIONAL_RANGE" {
			continue
		}
		var v uint64
		fmt.Sscan(k.value, &v)
		if got := text(v).String(); !strings.HasSuffix(name, "_"+got) {
			t.Errorf("%s prints %q", name, got)
		}
	}
}

func TestFlagTexts(t *testing.T) {
	for _, tc := range []struct {
		got  fmt.Stringer
		want string
	}{
		{IBQPAttrMask(0), "0"},
		{IB_QP_STATE | IB_QP_PORT | IB_QP_PKEY_INDEX, "STATE|PKEY_INDEX|PORT"},
		{IB_UVERBS_ACCESS_LOCAL_WRITE | 1<<31, "LOCAL_WRITE|0x80000000"},
		{IBSendFlags(1 << 30), "0x40000000"},
		{IB_UVERBS_DEVICE_ATOMIC_WRITE, "ATOMIC_WRITE"},
	} {
		if got := tc.got.String(); got != tc.want {
			t.Errorf("%T prints %q, want %q", tc.got, got, tc.want)
		}
	}
}
