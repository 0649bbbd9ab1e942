//go:build !linux

package holders

func (p Proc) hostname(string) string { return "" }
