//go:build !linux

package devfile

import "errors"

var realKernel Kernel = unsupported{}

// unsupported stands where the system has no RDMA character devices.
type unsupported struct{}

func (unsupported) Open(string) (Handle, error)       { return nil, errors.ErrUnsupported }
func (unsupported) Adopt(int, string) (Handle, error) { return nil, errors.ErrUnsupported }
