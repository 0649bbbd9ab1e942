//go:build !linux

package uverbs

import "errors"

type ueventListener struct{}

func listenUEvents(func([]byte), func()) (*ueventListener, error) { return nil, errors.ErrUnsupported }

func (*ueventListener) close() {}

func lastUEvent() uint64 { return 0 }

func verbsNodeExists(string) bool { return true }
