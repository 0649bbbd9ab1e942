package rxe

import (
	"errors"
	"fmt"
)

// Errors of what the kernel takes and does not do.
var (
	errAltPath = fmt.Errorf("soft-RoCE has no alternate paths: %w", errors.ErrUnsupported)
	errLID     = fmt.Errorf("RoCE has no LIDs: name the peer by DGID and SGIDIndex, and leave DLID and SrcPathBits 0: %w", errors.ErrUnsupported)
)

// Errors of the posting path beyond those of package provider, built once so
// that posting allocates nothing.
var (
	errMessageSize   = errors.New("message of 2 GiB or more: split it")
	errDatagramSize  = errors.New("datagram of more than 4096 bytes: split it")
	errInlineAndSGE  = errors.New("request has inline data and scatter/gather entries: use one of them")
	errInlineOpcode  = errors.New("opcode cannot carry inline data: use a scatter/gather entry")
	errAtomicSize    = errors.New("an atomic operation needs scatter/gather entries of 8 bytes in all")
	errAtomicAlign   = errors.New("remote address of an atomic operation is not a multiple of 8")
	errAtomicWrite   = errors.New("an atomic write needs 8 bytes of inline data")
	errNoDataOp      = errors.New("a flush or local operation takes no data: leave scatter/gather entries and inline data empty")
	errNoReceiveRing = errors.New("queue pair receives from a shared receive queue: post there")
)
