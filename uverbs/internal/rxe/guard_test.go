package rxe

import (
	"testing"

	"github.com/purerdma/rdma/uverbs/internal/guard"
)

func guarded(tb testing.TB, n int) []byte { return guard.Bytes(tb, n) }
