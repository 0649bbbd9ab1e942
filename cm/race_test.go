//go:build race

package cm

// The race detector makes sync.Pool drop items at random.
const raceEnabled = true
