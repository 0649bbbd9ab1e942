package abi

import (
	"fmt"
	"go/types"
	"strings"
	"testing"
)

// texts are the types with a text per value.
var texts = map[string]func(uint64) fmt.Stringer{
	"IBQPType":              func(v uint64) fmt.Stringer { return IBQPType(v) },
	"IBUverbsQPType":        func(v uint64) fmt.Stringer { return IBUverbsQPType(v) },
	"IBQPState":             func(v uint64) fmt.Stringer { return IBQPState(v) },
	"IBMigState":            func(v uint64) fmt.Stringer { return IBMigState(v) },
	"IBWQState":             func(v uint64) fmt.Stringer { return IBWQState(v) },
	"IBUverbsSRQType":       func(v uint64) fmt.Stringer { return IBUverbsSRQType(v) },
	"IBUverbsWROpcode":      func(v uint64) fmt.Stringer { return IBUverbsWROpcode(v) },
	"IBWCOpcode":            func(v uint64) fmt.Stringer { return IBWCOpcode(v) },
	"IBUverbsWCOpcode":      func(v uint64) fmt.Stringer { return IBUverbsWCOpcode(v) },
	"IBWCStatus":            func(v uint64) fmt.Stringer { return IBWCStatus(v) },
	"SIWOpcode":             func(v uint64) fmt.Stringer { return SIWOpcode(v) },
	"SIWWCStatus":           func(v uint64) fmt.Stringer { return SIWWCStatus(v) },
	"IBMTU":                 func(v uint64) fmt.Stringer { return IBMTU(v) },
	"IBPortState":           func(v uint64) fmt.Stringer { return IBPortState(v) },
	"IBPortPhysState":       func(v uint64) fmt.Stringer { return IBPortPhysState(v) },
	"IBAtomicCap":           func(v uint64) fmt.Stringer { return IBAtomicCap(v) },
	"IBEventType":           func(v uint64) fmt.Stringer { return IBEventType(v) },
	"IBUverbsGIDType":       func(v uint64) fmt.Stringer { return IBUverbsGIDType(v) },
	"RDMALinkLayer":         func(v uint64) fmt.Stringer { return RDMALinkLayer(v) },
	"RDMATransportType":     func(v uint64) fmt.Stringer { return RDMATransportType(v) },
	"RDMADriverID":          func(v uint64) fmt.Stringer { return RDMADriverID(v) },
	"IBUverbsWriteCmds":     func(v uint64) fmt.Stringer { return IBUverbsWriteCmds(v) },
	"UverbsDefaultObjects":  func(v uint64) fmt.Stringer { return UverbsDefaultObjects(v) },
	"RDMANldevCommand":      func(v uint64) fmt.Stringer { return RDMANldevCommand(v) },
	"RDMANlNotifyEventType": func(v uint64) fmt.Stringer { return RDMANlNotifyEventType(v) },
	"RDMACMEventType":       func(v uint64) fmt.Stringer { return RDMACMEventType(v) },
	"RDMAUCMPortSpace":      func(v uint64) fmt.Stringer { return RDMAUCMPortSpace(v) },
	"IBCMSidrStatus":        func(v uint64) fmt.Stringer { return IBCMSidrStatus(v) },
	"CMRejectReason":        func(v uint64) fmt.Stringer { return CMRejectReason(v) },
}

// noText are constants that are no value of their type.
var noText = map[string]bool{"RDMA_NLDEV_NUM_OPS": true, "SIW_NUM_OPCODES": true, "SIW_NUM_WC_STATUS": true}

// Every constant of a type with texts has one, and a number without a constant
// prints type and number.
func TestEveryConstantHasText(t *testing.T) {
	consts := loadPackage(t).consts
	seen := map[string]bool{}
	for name, k := range consts {
		text := texts[k.typ]
		if text == nil || noText[name] {
			continue
		}
		seen[k.typ] = true
		var v uint64
		fmt.Sscan(k.value, &v)
		if got := text(v).String(); got == "" || strings.Contains(got, "(") {
			t.Errorf("%s (%s %d) prints %q", name, k.typ, v, got)
		}
	}
	for typ, text := range texts {
		if !seen[typ] {
			t.Errorf("no constant of type %s", typ)
		}
		if got, want := text(4000).String(), typ+"(4000)"; got != want {
			t.Errorf("unknown value of %s prints %q, want %q", typ, got, want)
		}
	}
}

// Every type of this package with a String method is tested above or below.
func TestEveryStringerIsTested(t *testing.T) {
	pkg, _ := checkSource(t)
	elsewhere := map[string]bool{"UCMCommand": true, "RDMANodeType": true, "IWRejectStatus": true}
	for _, name := range pkg.Scope().Names() {
		obj, ok := pkg.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		method, _, _ := types.LookupFieldOrMethod(obj.Type(), false, pkg, "String")
		if method != nil && texts[name] == nil && flagTexts[name] == nil && !elsewhere[name] {
			t.Errorf("%s has a String method without a test", name)
		}
	}
}

func TestTexts(t *testing.T) {
	for _, tc := range []struct {
		got  fmt.Stringer
		want string
	}{
		{RDMA_CM_EVENT_ADDR_RESOLVED, "ADDR_RESOLVED"},
		{RDMA_CM_EVENT_TIMEWAIT_EXIT, "TIMEWAIT_EXIT"},
		{UCMCommand(RDMA_USER_CM_CMD_CREATE_ID), "CREATE_ID"},
		{UCMCommand(RDMA_USER_CM_CMD_WRITE_CM_EVENT), "WRITE_CM_EVENT"},
		{UCMCommand(99), "UCMCommand(99)"},
		{IB_USER_VERBS_CMD_CREATE_QP, "CREATE_QP"},
		{IBUverbsWriteCmds(IB_USER_VERBS_EX_CMD_CREATE_FLOW), "CREATE_FLOW"},
		{UVERBS_OBJECT_COMP_CHANNEL, "COMP_CHANNEL"},
		{RDMANodeType(RDMA_NODE_IB_CA), "channel adapter"},
		{RDMANodeType(0), "RDMANodeType(0)"},
		{RDMA_DRIVER_RXE, "rxe"},
		{RDMA_DRIVER_MLX5, "mlx5"},
		{RDMA_DRIVER_I40IW, "irdma"},
		{RDMA_DRIVER_BNXT_RE, "bnxt_re"},
		{IB_QPS_RTS, "RTS"},
		{IB_QPT_XRC_TGT, "XRC_TGT"},
		{IB_UVERBS_QPT_DRIVER, "DRIVER"},
		{IB_QPT_RAW_IPV6, "RAW_IPV6"},
		{IB_WC_RECV_RDMA_WITH_IMM, "RECV_RDMA_WITH_IMM"},
		{IBWCOpcode(127), "IBWCOpcode(127)"},
		{IB_WC_REM_ACCESS_ERR, "remote access error"},
		{IB_MTU_4096, "4096"},
		{IBMTU(0), "IBMTU(0)"},
		{RDMA_REGISTER_EVENT, "REGISTER"},
		{IB_CM_REJ_INVALID_SERVICE_ID, "invalid service ID"},
		{CMRejectReason(34), "CMRejectReason(34)"},
		{IWRejectRefused, "connection refused by peer"},
		{IWRejectStatus(-5), "IWRejectStatus(-5)"},
	} {
		if got := tc.got.String(); got != tc.want {
			t.Errorf("%T prints %q, want %q", tc.got, got, tc.want)
		}
	}
}

func TestExplain(t *testing.T) {
	if got, want := IB_CM_REJ_INVALID_SERVICE_ID.Explain(), "no listener on that port"; got != want {
		t.Errorf("Explain() = %q, want %q", got, want)
	}
	if got := CMRejectReason(1 << 31).Explain(); got != "" {
		t.Errorf("Explain() of an unknown reason = %q", got)
	}
}

// Every method constant has its name at its number under some object.
func TestUverbsMethodName(t *testing.T) {
	names := map[string]bool{}
	for _, methods := range methodNames {
		for _, n := range methods {
			if names[n] {
				t.Errorf("method %s is there twice", n)
			}
			names[n] = true
		}
	}
	count := 0
	for name := range loadPackage(t).consts {
		if m, ok := strings.CutPrefix(name, "UVERBS_METHOD_"); ok {
			count++
			if !names[m] {
				t.Errorf("method %s has no name", name)
			}
		}
	}
	if count != len(names) {
		t.Errorf("%d method constants, %d names", count, len(names))
	}
	if got := UverbsMethodName(UVERBS_OBJECT_QP, uint16(UVERBS_METHOD_QP_CREATE)); got != "QP_CREATE" {
		t.Errorf("QP method 0 is %q", got)
	}
	if got := UverbsMethodName(UVERBS_OBJECT_COMP_CHANNEL, 7); got != "COMP_CHANNEL method(7)" {
		t.Errorf("unknown method is %q", got)
	}
	if got := UverbsMethodName(0x1001, 0x1002); got != "UverbsDefaultObjects(4097) method(4098)" {
		t.Errorf("driver method is %q", got)
	}
}
