//go:build !unix

package rdmanl

import "syscall"

func errnoName(syscall.Errno) string { return "" }
