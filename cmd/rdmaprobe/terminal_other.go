//go:build !linux

package main

import "os"

// terminalColumns is for Linux; elsewhere no width is known.
func terminalColumns(*os.File) int { return 0 }

// isTerminal is for Linux; elsewhere nothing is coloured.
func isTerminal(*os.File) bool { return false }
