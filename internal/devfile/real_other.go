//go:build !linux

package devfile

import "errors"

var realKernel Kernel = unsupported{}

// unsupported stands where the system has no RDMA character devices.
type unsupported struct{}

// Open refuses.
func (unsupported) Open(string) (Handle, error) { return nil, errors.ErrUnsupported }

// Adopt refuses.
func (unsupported) Adopt(int, string) (Handle, error) { return nil, errors.ErrUnsupported }

// AdoptSleeper refuses.
func (unsupported) AdoptSleeper(int, string) (Sleeper, error) { return nil, errors.ErrUnsupported }
