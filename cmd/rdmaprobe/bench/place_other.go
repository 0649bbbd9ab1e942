//go:build !linux

package bench

func currentCPU() int { return unknownCPU }

func allowedCPUs() []int { return nil }
