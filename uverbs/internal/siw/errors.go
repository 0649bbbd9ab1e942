package siw

import (
	"errors"
	"fmt"

	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// Errors of what the kernel takes and does not do.
var (
	errAddress = fmt.Errorf("siw names memory by its address in the process, "+
		"not by another one and not from 0: use MR.Addr: %w", errors.ErrUnsupported)
	errAtomicAccess = fmt.Errorf("iWARP has no atomic operations, so none can be allowed: leave AccessRemoteAtomic out: %w",
		errors.ErrUnsupported)
	errWindows = fmt.Errorf("siw has no memory windows: leave AccessMWBind out: %w", errors.ErrUnsupported)
)

// Errors of the posting path beyond those of package provider, built once so
// that posting allocates nothing.
var (
	errOpcode        = fmt.Errorf("siw: %w: %w", provider.ErrOpcode, errors.ErrUnsupported)
	errImmediate     = fmt.Errorf("iWARP has no immediate data: %w: %w", provider.ErrOpcode, errors.ErrUnsupported)
	errAtomic        = fmt.Errorf("iWARP has no atomic operations: %w: %w", provider.ErrOpcode, errors.ErrUnsupported)
	errMessageSize   = errors.New("message of 2 GiB or more: split it")
	errInlineAndSGE  = errors.New("request has inline data and scatter/gather entries: use one of them")
	errInlineOpcode  = errors.New("siw takes inline data in plain sends and writes only: use a scatter/gather entry")
	errReadSGE       = fmt.Errorf("an iWARP read fills one scatter/gather entry: split it: %w", errors.ErrUnsupported)
	errReadFence     = fmt.Errorf("siw cannot make a read wait for earlier ones (fence): %w", errors.ErrUnsupported)
	errNoData        = errors.New("a local operation takes no data: leave scatter/gather entries and inline data empty")
	errNoReceiveRing = errors.New("queue pair receives from a shared receive queue: post there")
)
