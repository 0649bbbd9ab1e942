//go:build !linux

package gather

// process and nodes are for Linux.
func (g *gatherer) process() { g.unknown("limits: not Linux") }
func (g *gatherer) nodes()   {}

// HearsRoCE is for Linux.
func HearsRoCE() bool { return false }
