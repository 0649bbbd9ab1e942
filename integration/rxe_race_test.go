//go:build linux && race

package integration

// The race detector makes sync.Pool drop items at random, so that system calls
// allocate now and then.
const rxeRace = true
