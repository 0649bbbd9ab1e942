//go:build !linux

package main

import "os"

// isTerminal is for Linux; elsewhere nothing is coloured.
func isTerminal(*os.File) bool { return false }
