//go:build !linux

package rxe

import "testing"

func guarded(_ testing.TB, n int) []byte { return alignedBytes(n) }
