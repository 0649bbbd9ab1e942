package provider

import (
	"errors"
	"fmt"
)

// Errors of the posting path are built once, so that posting allocates
// nothing. Package uverbs exports them.
var (
	ErrQueueFull   = errors.New("queue full: poll completions before posting more")
	ErrTooManySGEs = errors.New("more scatter/gather entries than the queue pair was created for")
	ErrInlineSize  = errors.New("more inline data than the queue pair was created for")
	ErrNoAH        = errors.New("a datagram needs an address handle (SendWR.AH)")
	ErrNoBind      = errors.New("a request to bind a memory window needs to know which (SendWR.Bind)")
	ErrSendFlags   = fmt.Errorf("send flags other than SendFence, SendSignaled and SendSolicited: %w", errors.ErrUnsupported)
	ErrOpcode      = errors.New("opcode not supported by this driver or queue pair type")
)
