//go:build !linux

package uverbs

import "errors"

func listNetdevs() (netdevs, error) { return nil, errors.ErrUnsupported }
