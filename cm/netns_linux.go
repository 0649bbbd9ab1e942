package cm

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// threadNetNS is the network namespace of the calling thread.
const threadNetNS = "/proc/thread-self/ns/net"

// inNetNS runs f in the network namespace that path names, or where it stands
// if path is empty. A namespace belongs to a thread: f runs on one of its own.
func inNetNS(path string, f func() error) error {
	if path == "" {
		return f()
	}
	result := make(chan error, 1)
	go func() { result <- onNetNSThread(path, f) }()
	return <-result
}

// onNetNSThread leaves the thread locked, which makes the runtime discard it,
// unless the old namespace is back for certain.
func onNetNSThread(path string, f func() error) error {
	runtime.LockOSThread()
	old, err := os.Open(threadNetNS)
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("network namespace: %w", err)
	}
	defer old.Close()
	if err := enterNetNS(path); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = f()
	if unix.Setns(int(old.Fd()), unix.CLONE_NEWNET) == nil {
		runtime.UnlockOSThread()
	}
	return err
}

func enterNetNS(path string) error {
	ns, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("network namespace: %w", err)
	}
	defer ns.Close()
	err = unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET)
	switch {
	case errors.Is(err, syscall.EPERM):
		return fmt.Errorf("enter network namespace %s: %w: needs CAP_SYS_ADMIN", path, err)
	case errors.Is(err, syscall.EINVAL):
		return fmt.Errorf("enter network namespace %s: %w: not a network namespace", path, err)
	case err != nil:
		return fmt.Errorf("enter network namespace %s: %w", path, err)
	}
	return nil
}

// callersNetNS returns the path of the calling thread's network namespace if
// it is not the process's, and "" if it is: what happens on other threads on
// behalf of the caller must happen in the caller's namespace.
func callersNetNS() string {
	thread, err := os.Readlink(threadNetNS)
	if err != nil {
		return ""
	}
	process, err := os.Readlink("/proc/self/ns/net")
	if err != nil || thread == process {
		return ""
	}
	return fmt.Sprintf("/proc/self/task/%d/ns/net", unix.Gettid())
}
