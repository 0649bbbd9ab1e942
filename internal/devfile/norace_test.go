//go:build !race

package devfile

const raceEnabled = false
