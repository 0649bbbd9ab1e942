package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// terminalColumns returns how many columns a terminal has; 0 for what is none, and
// for one that does not know.
func terminalColumns(f *os.File) int {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	columns := 0
	_ = conn.Control(func(fd uintptr) {
		if size, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ); err == nil {
			columns = int(size.Col)
		}
	})
	return columns
}

// isTerminal asks for terminal settings, which only a terminal has.
func isTerminal(f *os.File) bool {
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	terminal := false
	err = conn.Control(func(fd uintptr) {
		_, err := unix.IoctlGetTermios(int(fd), unix.TCGETS)
		terminal = err == nil
	})
	return err == nil && terminal
}
