//go:build linux

// Conntime measures how long connections take, like cmtime of librdmacm, and
// how many system calls they need. It compares itself with cmtime:
//
//	conntime listener -a ADDRESS:PORT        a cm.Listener
//	conntime dial     -a ADDRESS:PORT -c N   N calls of cm.Dial, -parallel at a time
//	conntime server   -a ADDRESS:PORT        like cmtime's server
//	conntime phases   -a ADDRESS:PORT -c N   like cmtime's client: N connections, step by step, all at once in each step
//	conntime bench    -c N -rounds R         the above and cmtime in turn; prints a table
//
// The bench wants to be root of a guest with cmtime in it; scripts/bench-conn
// makes one.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"os/signal"
	"runtime/pprof"
	"syscall"
	"time"
)

// A phase is one step of all connections of a run.
type phase struct {
	Name string
	Took time.Duration
}

// A result is what a client reports.
type result struct {
	Conns  int
	Phases []phase

	Active, Passive cpu // of the whole processes, starting and ending included
}

// A cpu is processor time.
type cpu struct{ User, System time.Duration }

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "conntime:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: conntime listener|dial|server|phases|bench [flags]: %w", syscall.EINVAL)
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	addr := flags.String("a", "10.77.0.1:7500", "address and port of the server")
	conns := flags.Int("c", 100, "connections")
	parallel := flags.Int("parallel", 100, "dials at a time")
	rounds := flags.Int("rounds", 5, "measurements of each program")
	profile := flags.String("cpuprofile", "", "file to write a processor profile to")
	limit := flags.Duration("timeout", 2*time.Minute, "time limit of a client")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	where, err := netip.ParseAddrPort(*addr)
	if err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	switch args[0] {
	case "listener":
		return serve(ctx, where)
	case "server":
		return serveSteps(ctx, where)
	case "bench":
		return runBench(ctx, where, *conns, *rounds)
	case "phases", "dial":
		ctx, cancel := context.WithTimeout(ctx, *limit)
		defer cancel()
		r, err := measure(ctx, args[0], where, *conns, *parallel)
		if err != nil {
			return err
		}
		return json.NewEncoder(os.Stdout).Encode(r)
	}
	return fmt.Errorf("no command %q: %w", args[0], syscall.EINVAL)
}

func measure(ctx context.Context, how string, where netip.AddrPort, conns, parallel int) (*result, error) {
	if how == "phases" {
		return runPhases(ctx, where, conns)
	}
	return runDials(ctx, where, conns, parallel)
}
