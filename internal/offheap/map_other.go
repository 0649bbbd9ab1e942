//go:build !linux

package offheap

import "errors"

// Map returns errors.ErrUnsupported.
func Map(int) ([]byte, error) { return nil, errors.ErrUnsupported }

// Unmap returns errors.ErrUnsupported.
func Unmap([]byte) error { return errors.ErrUnsupported }

// Mapped returns 0.
func Mapped() int64 { return 0 }

func mapPages(int) ([]byte, error) { return nil, errors.ErrUnsupported }
