//go:build !linux

package cm

import "errors"

func inNetNS(path string, f func() error) error {
	if path == "" {
		return f()
	}
	return errors.ErrUnsupported
}

func pinNetNS() (path string, unpin func()) { return "", func() {} }
