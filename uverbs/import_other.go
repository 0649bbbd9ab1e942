//go:build !linux

package uverbs

import "errors"

func dupFD(int) (int, error) { return -1, errors.ErrUnsupported }

func deviceOfFD(int) (*Device, error) { return nil, errors.ErrUnsupported }
