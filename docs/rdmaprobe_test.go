package docs

import "testing"

// TestProgramNames is TestNames for the page about the program.
func TestProgramNames(t *testing.T) { checkNames(t, "rdmaprobe.md", 25) }
