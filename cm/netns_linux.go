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
// unless the old namespace is back for certain. A thread that is there already needs
// no privilege.
func onNetNSThread(path string, f func() error) error {
	runtime.LockOSThread()
	if sameNetNS(threadNetNS, path) {
		defer runtime.UnlockOSThread()
		return f()
	}
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

// sameNetNS reports whether two files are of the same namespace.
func sameNetNS(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) == nil && unix.Stat(b, &y) == nil && x.Dev == y.Dev && x.Ino == y.Ino
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

// pinNetNS returns a path to the calling thread's network namespace, for what other
// goroutines do on behalf of the caller, and what gives it back. The path is empty while
// all threads of the process are in one namespace. None of them stands for the others:
// programs lock and move the main thread as well as any other.
func pinNetNS() (path string, unpin func()) {
	if oneNetNS() {
		return "", func() {}
	}
	ns, err := os.Open(threadNetNS)
	if err != nil {
		return "", func() {}
	}
	return fmt.Sprintf("/proc/self/fd/%d", ns.Fd()), func() { _ = ns.Close() }
}

// oneNetNS reports whether all threads are in one network namespace. New threads are
// where the runtime makes them from, which is never a locked one.
func oneNetNS() bool {
	const tasks = "/proc/self/task"
	here, err := os.Readlink(threadNetNS)
	if err != nil {
		return true // without procfs there is no way to tell, nor to pin
	}
	threads, _ := os.ReadDir(tasks)
	for _, t := range threads {
		there, err := os.Readlink(tasks + "/" + t.Name() + "/ns/net")
		if err == nil && there != here { // an error is that of a thread that has ended
			return false
		}
	}
	return true
}
