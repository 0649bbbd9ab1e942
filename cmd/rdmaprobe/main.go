// Command rdmaprobe shows whether RDMA works here, and if not why. It needs
// nothing but the kernel: no C library, no other program, no file.
//
//	rdmaprobe list                 RDMA devices, and whether they are usable
//	rdmaprobe doctor               what is wrong, and what to do about it
//	rdmaprobe explain RP-MEM-001   what a finding of doctor means
//	rdmaprobe gids --to 10.0.0.7   GIDs, and which one is used
//	rdmaprobe path 10.0.0.7        the stages of a connection, and where it fails
//	rdmaprobe rxe add eth0         make a soft-RoCE device
//	rdmaprobe serve                answer pings of many clients
//	rdmaprobe ping 10.0.0.7        ping a server with verified data
//	rdmaprobe demo                 all of it on this machine, then clean up
//	rdmaprobe version              versions of module, kernel and ABIs
//
// serve and ping speak the protocol of rping, so either end may be the C tool.
//
// Every command knows --json, also for its failures. Exit codes: 0 ok, 1 check
// failed, 2 usage, 3 no device, 4 permission, 5 unreachable or time-out, 6
// rejected.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := untilSignal(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	// Without this, a closed pipe on standard output would kill the program
	// before it has cleaned up; run ends on the failed write instead.
	signal.Ignore(syscall.SIGPIPE)
	if columns := terminalColumns(os.Stdout); columns > 0 {
		lineWidth = widthFor(columns)
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// untilSignal makes a context that ends with the first of the signals. One that was
// ignored when the program began stays so: nohup has SIGHUP ignored, and a shell
// SIGINT for what it starts in the background.
func untilSignal(signals ...os.Signal) (context.Context, context.CancelFunc) {
	signals = slices.DeleteFunc(signals, signal.Ignored)
	if len(signals) == 0 { // none would mean all
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}
