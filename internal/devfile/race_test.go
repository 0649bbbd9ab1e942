//go:build race

package devfile

// The race detector makes sync.Pool drop items at random.
const raceEnabled = true
