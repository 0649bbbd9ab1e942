//go:build linux && !race

package integration

const rxeRace = false
