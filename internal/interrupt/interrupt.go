// Package interrupt lets the end of a context wake a wait that has no context
// of its own, only a deadline.
package interrupt

import (
	"context"
	"time"
)

// past is a deadline that has passed. The zero time would mean none.
var past = time.Unix(1, 0)

// Arm calls setDeadline with a time in the past when ctx ends, and returns what
// ends that and takes the deadline back. It must be called when the wait is
// over, and before the next one on the same file. What setDeadline returns is
// ignored: it fails only on a closed file, which wakes the wait too.
func Arm(ctx context.Context, setDeadline func(time.Time) error) (disarm func()) {
	if ctx.Done() == nil {
		return func() {}
	}
	fired := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(fired)
		_ = setDeadline(past)
	})
	return func() {
		if !stop() {
			<-fired // or it would come after the deadline is taken back
			_ = setDeadline(time.Time{})
		}
	}
}
