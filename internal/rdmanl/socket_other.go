//go:build !linux

package rdmanl

import "errors"

func openSocket() (transport, error) { return nil, errors.ErrUnsupported }

func openMonitor() (receiver, error) { return nil, errors.ErrUnsupported }
