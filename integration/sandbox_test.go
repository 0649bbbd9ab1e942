//go:build linux

package integration

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
)

// A profile is a seccomp filter: of one system call, those with certain
// arguments fail.
type profile struct {
	call  int
	args  map[int]uint32 // the lower half of an argument, by its number
	errno syscall.Errno
	// file, when not empty, takes the place of args: the call fails when its first
	// argument is a file whose path begins so. A filter cannot see that; the kernel
	// asks another process.
	file string
}

var profiles = map[string]profile{
	"ioctl":   {call: unix.SYS_IOCTL, args: map[int]uint32{1: abi.RDMA_VERBS_IOCTL}, errno: unix.ENOTTY},
	"write":   {call: unix.SYS_WRITE, errno: unix.EPERM, file: "/dev/infiniband/uverbs"},
	"netlink": {call: unix.SYS_SOCKET, args: map[int]uint32{0: unix.AF_NETLINK, 2: unix.NETLINK_RDMA}, errno: unix.EPROTONOSUPPORT},
}

// filter is the program that the kernel runs at each system call.
func (p profile) filter() []unix.SockFilter {
	const load, equal, give = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	verdict := uint32(unix.SECCOMP_RET_ERRNO) | uint32(p.errno)
	if p.file != "" {
		verdict = unix.SECCOMP_RET_USER_NOTIF
	}
	type test struct{ offset, value uint32 }
	tests := []test{{0, uint32(p.call)}}
	for arg, value := range p.args {
		tests = append(tests, test{lowerHalf(arg), value})
	}
	var prog []unix.SockFilter
	for i, t := range tests {
		other := uint8(2*(len(tests)-i) - 1) // over what is left of tests, and the verdict
		prog = append(prog, unix.SockFilter{Code: load, K: t.offset}, unix.SockFilter{Code: equal, K: t.value, Jf: other})
	}
	return append(prog, unix.SockFilter{Code: give, K: verdict}, unix.SockFilter{Code: give, K: unix.SECCOMP_RET_ALLOW})
}

// lowerHalf is where struct seccomp_data has the lower 32 bits of an argument.
func lowerHalf(arg int) uint32 {
	offset := uint32(16 + 8*arg)
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		offset += 4
	}
	return offset
}

// install puts the calling thread, and what it executes, under the profile. It
// returns the descriptor by which the kernel asks, or -1.
func (p profile) install() (int, error) {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return -1, err
	}
	prog := p.filter()
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	flags := 0
	if p.file != "" {
		flags = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, uintptr(flags), uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(prog)
	if errno != 0 {
		return -1, errno
	}
	if p.file == "" {
		return -1, nil
	}
	return int(fd), nil
}

// TestSandboxChild is the process that becomes the program in a sandbox.
func TestSandboxChild(t *testing.T) {
	name, args, ok := strings.Cut(os.Getenv("RDMA_SANDBOX"), " ")
	if !ok {
		return // nobody's child
	}
	runtime.LockOSThread()
	if root := os.Getenv("RDMA_SANDBOX_ROOT"); root != "" {
		if err := errors.Join(unix.Chroot(root), unix.Chdir("/"), syscall.Setgroups(nil), syscall.Setgid(65534), syscall.Setuid(65534)); err != nil {
			t.Fatal(err)
		}
	}
	fd, err := profiles[name].install()
	if err == nil && fd >= 0 {
		err = errors.Join(unix.Sendmsg(3, []byte{0}, unix.UnixRights(fd), nil, 0), unix.Close(fd), unix.Close(3))
	}
	if err == nil {
		argv := strings.Split(args, " ")
		err = syscall.Exec(argv[0], argv, []string{"A=B"})
	}
	t.Fatal(err)
}

// sandboxed runs the program under a profile; as nobody in root, if that is not
// empty.
func sandboxed(t *testing.T, name, root string, args ...string) probeResult {
	t.Helper()
	program := requireProbe(t)
	if root != "" {
		program = "/rdmaprobe"
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "listener")
	cmd := exec.CommandContext(testContext(t), "/proc/self/exe", "-test.run=^TestSandboxChild$")
	cmd.Env = append(os.Environ(), "RDMA_SANDBOX_ROOT="+root, "RDMA_SANDBOX="+strings.Join(append([]string{name, program}, args...), " "))
	cmd.ExtraFiles = []*os.File{theirs}
	var answering sync.WaitGroup
	answering.Go(func() {
		if err := answerFor(pair[0], profiles[name]); err != nil {
			t.Error(err)
		}
	})
	r := runTool(t, cmd)
	_ = theirs.Close()
	answering.Wait()
	_ = unix.Close(pair[0])
	return r
}

// answerFor tells the kernel which calls fail, until the process has gone.
func answerFor(socket int, p profile) error {
	control := make([]byte, unix.CmsgSpace(4))
	n, controlLen, _, _, err := unix.Recvmsg(socket, make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	if err != nil || n == 0 {
		return err // the child has no question to ask
	}
	messages, err := unix.ParseSocketControlMessage(control[:controlLen])
	if err != nil {
		return err
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	defer unix.Close(fds[0])
	for {
		ready := []unix.PollFd{{Fd: int32(fds[0]), Events: unix.POLLIN}}
		if _, err := unix.Poll(ready, -1); err != nil && err != unix.EINTR {
			return err
		}
		if ready[0].Revents == 0 {
			continue // interrupted: to ask for a question now would wait for ever
		}
		if ready[0].Revents&unix.POLLIN == 0 {
			return nil // nobody is under the filter any more
		}
		if err := p.answer(fds[0]); err != nil && !errors.Is(err, unix.ENOENT) { // ENOENT: gone meanwhile
			return err
		}
	}
}

// answer takes one question: struct seccomp_notif, then seccomp_notif_resp.
func (p profile) answer(fd int) error {
	var question struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		ip         uint64
		args       [6]uint64
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&question))); errno != 0 {
		return errno
	}
	reply := struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}{id: question.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	path, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", question.pid, question.args[0]))
	if strings.HasPrefix(path, p.file) {
		reply.err, reply.flags = -int32(p.errno), 0
	}
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&reply))); errno != 0 {
		return errno
	}
	return nil
}

// TestSandbox takes one of the kernel's interfaces away at a time (P3): each is
// named, and the other one is used.
func TestSandbox(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	const looks = "this looks like a sandbox"
	for _, tt := range []struct {
		profile, id, remedy string
		list, abi           []string
		res                 int
		resText             []string
	}{
		{"ioctl", "RP-ABI-004", "RDMA_VERBS_IOCTL", []string{"through netlink", "usable"},
			[]string{"commands by write", "the uverbs ioctl interface is not available", looks}, 0, []string{"rxe0"}},
		{"write", "RP-ABI-005", "write()", []string{"through netlink", "usable"},
			[]string{"commands by ioctl", "write() on the uverbs device is refused", looks}, 0, []string{"rxe0"}},
		{"netlink", "RP-NET-001", "NETLINK_RDMA", []string{"through sysfs", "usable", addrV4, "RP-NET-001", looks},
			[]string{"EPROTONOSUPPORT", "copy on fork        not known"}, 4, []string{"this looks like a sandbox", "NETLINK_RDMA"}},
	} {
		t.Run(tt.profile, func(t *testing.T) {
			checkLeaks(t)
			run := func(code int, contains []string, args ...string) {
				t.Helper()
				r := sandboxed(t, tt.profile, "", args...)
				if testing.Verbose() {
					t.Logf("%v\n%s%s", args, r.stdout, r.stderr)
				}
				r.want(t, code)
				r.wantNarrow(t)
				flat := r
				flat.stdout = strings.Join(strings.Fields(r.stdout+r.stderr), " ")
				for i, text := range contains {
					contains[i] = strings.Join(strings.Fields(text), " ")
				}
				flat.contains(t, contains...)
			}
			run(0, tt.list, "list")
			run(0, tt.abi, "version", "--abi")
			run(0, []string{tt.id, tt.remedy}, "doctor")
			run(tt.res, tt.resText, "res", "-v")
			server, where := probeServe(t, addrV4+":0")
			run(0, []string{"2 sent, 2 verified"}, "ping", where, "-C", "2", "--interval", "0")
			run(0, []string{"up"}, "cmping", addrV4, "-C", "1")
			server.signal(t, syscall.SIGTERM)
		})
	}
}

// TestSandboxNothing: nothing of RDMA can be seen (P1). A kernel without it
// answers RDMA netlink as this profile does, and an empty image has neither
// nodes nor sysfs.
func TestSandboxNothing(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	root := emptyImage(t)
	run := func(args ...string) probeResult {
		r := sandboxed(t, "netlink", root, args...)
		r.want(t, 3)
		if strings.Contains(r.stdout+r.stderr, "goroutine ") {
			t.Errorf("%v: stack trace\n%s%s", args, r.stdout, r.stderr)
		}
		return r
	}
	parts := []string{"RP-MOD-001 module ib_core", "RP-MOD-002 module ib_uverbs", "RP-MOD-003 module rdma_ucm", "RP-MOD-004 module rdma_rxe",
		"RP-DEV-001", "netlink", "/sys"}
	for _, command := range []string{"list", "doctor", "ping 10.0.0.1", "cmping 10.0.0.1", "gids", "res", "path " + addrV4} {
		r := run(strings.Fields(command)...)
		r.wantNarrow(t)
		r.contains(t, parts...)
	}
	for _, name := range []string{"list", "doctor"} {
		r := run(name, "--json")
		wantSchema(t, name, r.stdout)
		r.contains(t, `"devices": []`, `"id": "RP-MOD-001"`, `"id": "RP-MOD-003"`)
	}
	for _, command := range []string{"version --abi", "watch --duration 200ms"} {
		sandboxed(t, "netlink", root, strings.Fields(command)...).want(t, 0)
	}
}

// TestSandboxProfile: the filters say what they are to say.
func TestSandboxProfile(t *testing.T) {
	got := profiles["ioctl"].filter()
	want := []unix.SockFilter{
		{Code: 0x20, K: 0}, {Code: 0x15, Jf: 3, K: unix.SYS_IOCTL}, {Code: 0x20, K: lowerHalf(1)}, {Code: 0x15, Jf: 1, K: abi.RDMA_VERBS_IOCTL},
		{Code: 6, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOTTY)}, {Code: 6, K: unix.SECCOMP_RET_ALLOW},
	}
	if !slices.Equal(want, got) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}
