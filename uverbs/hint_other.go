//go:build !linux

package uverbs

func processLimits() limits { return limits{} }
