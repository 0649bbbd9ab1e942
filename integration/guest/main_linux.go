//go:build linux

// Command guest is the init process of the virtual machines that scripts/vm
// boots. It is the first program of the guest and usually the only one besides
// the binary under test: it mounts the kernel file systems, loads modules, makes
// a soft-RoCE device, runs the binary, and hands output and status to the host.
//
// The host passes its wishes as files in the initial RAM disk:
//
//	/vm/conf   lines KEY=VALUE, see config
//	/vm/argv   the command, NUL separated
//	/vm/env    its environment on top of the defaults, NUL separated
//	/vm/load   kernel modules to load at boot, one per line
//
// Serial ports carry the results: ttyS0 kernel log, ttyS1 standard output,
// ttyS2 standard error, ttyS3 the protocol with the host ("up", "rc N"). On
// other processors than amd64 virtio ports take the place of the last three.
//
// Called as modprobe it loads the named module: the kernel runs
// /sbin/modprobe when it wants a module by alias.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if filepath.Base(os.Args[0]) == "modprobe" {
		os.Exit(modprobeMain(os.Args[1:]))
	}
	if os.Getpid() != 1 {
		fmt.Fprintln(os.Stderr, "guest: this is the init process of a test VM; use scripts/vm")
		os.Exit(2)
	}
	ports, err := boot()
	if err != nil {
		fmt.Fprintln(os.Stderr, "guest:", err)
		powerOff(1)
	}
	conf, err := readConfig("/vm")
	if err != nil {
		ports.fail(err)
	}
	ports.say("up")
	if err := setup(conf); err != nil {
		ports.fail(err)
	}
	status := run(conf, ports)
	ports.finish(status, conf.nodes > 1)
}

// boot does what must work before the host can be told anything.
func boot() (*ports, error) {
	if err := mountAll(); err != nil {
		return nil, err
	}
	raiseLimits()
	if err := os.Setenv("PATH", searchPath); err != nil {
		return nil, err
	}
	return openPorts()
}

func setup(conf *config) error {
	writeSysctls()
	if err := loadAtBoot("/vm/load"); err != nil {
		return err
	}
	return setupNetwork(conf)
}
