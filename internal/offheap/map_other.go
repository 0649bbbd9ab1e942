//go:build !linux

package offheap

import (
	"errors"
	"os"
)

// Map returns errors.ErrUnsupported.
func Map(int) ([]byte, error) { return nil, errors.ErrUnsupported }

// MapPages returns errors.ErrUnsupported.
func MapPages(int, Pages) ([]byte, error) { return nil, errors.ErrUnsupported }

// Unmap returns errors.ErrUnsupported.
func Unmap([]byte) error { return errors.ErrUnsupported }

// Mapped returns 0.
func Mapped() int64 { return 0 }

// NewFile returns errors.ErrUnsupported.
func NewFile(string, int, int) (*os.File, error) { return nil, errors.ErrUnsupported }

func mapPages(int) ([]byte, error) { return nil, errors.ErrUnsupported }
