//go:build !linux

package cm

func withoutSignals(f func() error) error { return f() }
