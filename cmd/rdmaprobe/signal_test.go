package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

// signalChild makes this test a program that waits for signals, and says so.
const signalChild = "RDMAPROBE_TEST_SIGNALS"

// TestSignalIgnored: nohup has SIGHUP ignored, and so it must stay, while SIGTERM
// ends the program. The trap of the shell is what nohup does.
func TestSignalIgnored(t *testing.T) {
	if os.Getenv(signalChild) != "" {
		ctx, stop := untilSignal(syscall.SIGHUP, syscall.SIGTERM)
		defer stop()
		fmt.Println("waiting, SIGHUP ignored:", signal.Ignored(syscall.SIGHUP))
		<-ctx.Done()
		fmt.Println("ended")
		return
	}
	for _, tt := range []struct {
		trap, want string
		send       []syscall.Signal
	}{
		{"trap '' HUP; ", "waiting, SIGHUP ignored: true\n", []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM}},
		{"", "waiting, SIGHUP ignored: false\n", []syscall.Signal{syscall.SIGHUP}},
	} {
		cmd := exec.Command("/bin/sh", "-c", tt.trap+`exec "$0" -test.run '^TestSignalIgnored$'`, os.Args[0])
		cmd.Env = append(os.Environ(), signalChild+"=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(out)
		if line, err := lines.ReadString('\n'); line != tt.want {
			t.Errorf("%q: %q, %v", tt.trap, line, err)
		}
		for _, s := range tt.send {
			if err := cmd.Process.Signal(s); err != nil {
				t.Error(err)
			}
		}
		if line, err := lines.ReadString('\n'); line != "ended\n" {
			t.Errorf("%q and %v: %q, %v", tt.trap, tt.send, line, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%q and %v: %v", tt.trap, tt.send, err)
		}
	}
}
