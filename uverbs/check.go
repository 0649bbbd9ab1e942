package uverbs

import (
	"fmt"
	"math"
	"os"

	"github.com/purerdma/rdma/abi"
)

// This file has what the package refuses before the kernel sees it: numbers that
// would lose bits on their way there and so become others, objects that are
// missing, and objects of another context, whose handles mean something else.

// fits32 reports whether numbers go into the kernel's 32 bits as they are.
func fits32(all ...int) bool {
	for _, n := range all {
		if n < 0 || n > math.MaxInt32 {
			return false
		}
	}
	return true
}

// The largest numbers of a queue pair and of a packet.
const (
	maxQPN = 1<<24 - 1
	maxPSN = 1<<24 - 1
)

// invalid makes the cause of a refusal, which matches syscall.EINVAL.
func invalid(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errInvalid)...)
}

// checkAccess says what is wrong with access flags in themselves
// (ib_check_mr_access).
func checkAccess(a Access) error {
	if a&(AccessRemoteWrite|AccessRemoteAtomic) != 0 && a&AccessLocalWrite == 0 {
		return invalid("peers may write only what the own device may write: AccessLocalWrite is missing")
	}
	return nil
}

// checkAddr says what is wrong with an address of the caller's choice for memory
// at start (ib_uverbs_reg_mr).
func checkAddr(start, addr uint64) error {
	if page := uint64(os.Getpagesize()); start%page != addr%page {
		return invalid("the address %#x must have the offset %d within a page, as the memory has", addr, start%page)
	}
	return nil
}

// check says what is wrong with those attributes that mask names, as far as no
// kernel and no device takes them, or takes them for others.
func (a *QPAttr) check(mask abi.IBQPAttrMask) error {
	for _, n := range []struct {
		name          string
		in            abi.IBQPAttrMask
		v, least, max uint32
	}{
		{"State", abi.IB_QP_STATE, uint32(a.State), 0, uint32(abi.IB_QPS_ERR)},
		{"CurState", abi.IB_QP_CUR_STATE, uint32(a.CurState), 0, uint32(abi.IB_QPS_ERR)},
		{"PathMTU", abi.IB_QP_PATH_MTU, uint32(a.PathMTU), 1, math.MaxUint8},
		{"MigState", abi.IB_QP_PATH_MIG_STATE, uint32(a.MigState), 0, math.MaxUint8},
		{"DestQPN", abi.IB_QP_DEST_QPN, a.DestQPN, 0, maxQPN},
		{"RQPSN", abi.IB_QP_RQ_PSN, a.RQPSN, 0, maxPSN},
		{"SQPSN", abi.IB_QP_SQ_PSN, a.SQPSN, 0, maxPSN},
		{"Timeout", abi.IB_QP_TIMEOUT, uint32(a.Timeout), 0, 31},
		{"AltTmout", abi.IB_QP_ALT_PATH, uint32(a.AltTmout), 0, 31},
		{"MinRNRTimer", abi.IB_QP_MIN_RNR_TIMER, uint32(a.MinRNRTimer), 0, 31},
		{"RetryCount", abi.IB_QP_RETRY_CNT, uint32(a.RetryCount), 0, 7},
		{"RNRRetry", abi.IB_QP_RNR_RETRY, uint32(a.RNRRetry), 0, 7},
	} {
		if mask&n.in == 0 || n.v >= n.least && n.v <= n.max {
			continue
		}
		if n.in == abi.IB_QP_PATH_MTU {
			return invalid("%s is %d: it is a code such as abi.IB_MTU_1024, not a number of bytes", n.name, n.v)
		}
		return invalid("%s is %d, the most is %d", n.name, n.v, n.max)
	}
	return nil
}
