//go:build linux

package main

import (
	"fmt"
	"net/netip"
	"strconv"

	"github.com/purerdma/rdma/uverbs"
)

// A test is one thing to measure with both programs.
type test struct {
	op    string // send, write or read
	kind  string // lat or bw
	mode  string // poll or event
	both  bool   // both ends send; bw
	size  int
	count int
}

func (t test) name() string {
	name := fmt.Sprintf("%s %s %s %d", t.op, t.kind, t.mode, t.size)
	if t.both {
		name += " both"
	}
	return name
}

// alone tells that perftest has no such test: "Events feature not available on
// WRITE verb".
func (t test) alone() bool { return t.mode == "event" && t.op == "write" }

// A load is a size, and how many messages of it take half a second or so where
// processors are emulated.
type load struct{ size, count int }

var (
	latencyLoads   = []load{{2, 1000}, {64, 1000}, {4096, 600}}
	bandwidthLoads = []load{{64, 3000}, {4096, 2000}, {65536, 150}, {1 << 20, 16}}
)

// tests are all of them, with so many times the messages.
func tests(scale float64) (list []test) {
	n := func(count int) int { return max(int(float64(count)*scale), 5) }
	ops := []string{"send", "write", "read"}
	for _, mode := range []string{"poll", "event"} {
		for _, op := range ops {
			for _, l := range latencyLoads {
				list = append(list, test{op: op, kind: "lat", mode: mode, size: l.size, count: n(l.count)})
			}
			for _, l := range bandwidthLoads {
				list = append(list, test{op: op, kind: "bw", mode: mode, size: l.size, count: n(l.count)})
			}
		}
	}
	for _, op := range ops {
		list = append(list, test{op: op, kind: "bw", mode: "poll", both: true, size: 65536, count: n(100)})
	}
	return list
}

// perftest is the command line of the C program.
func (t test) perftest(device string, gid, port int) []string {
	args := []string{"ib_" + t.op + "_" + t.kind, "-F", "-d", device, "-x", strconv.Itoa(gid), "-p", strconv.Itoa(port),
		"-s", strconv.Itoa(t.size), "-n", strconv.Itoa(t.count)}
	if t.mode == "event" {
		args = append(args, "-e")
	}
	if t.mode == "event" && t.kind == "lat" && t.op == "send" {
		args = append(args, roomForEvents(t.count)...)
	}
	if t.both {
		args = append(args, "-b")
	}
	return args
}

// roomForEvents keeps ib_send_lat -e from hanging. Both its queues share a channel,
// and it takes whichever event comes for that of the queue that it looks at, once.
// Soft-RoCE may tell of the answer before it tells that the message has arrived;
// then a completion stays in the send queue, which has room for one (-t 1), and
// the next is lost. So there is room for all, each still with its completion.
func roomForEvents(messages int) []string {
	return []string{"-t", strconv.Itoa(messages), "-Q", "1"}
}

// moderation is how many messages one completion stands for, as perftest has it:
// 100, but each has its own if it is large, unless events are used.
func (t test) moderation() int {
	if t.size > 8192 && t.mode == "poll" {
		return 1
	}
	return 100
}

// probe is the command line of rdmaprobe, with perftest's defaults.
func (t test) probe(where netip.AddrPort) []string {
	args := []string{"rdmaprobe", "bench", t.kind, where.String(), "--json", "--op", t.op, "--mode", t.mode,
		"--size", strconv.Itoa(t.size), "-n", strconv.Itoa(t.count)}
	if t.kind == "lat" {
		args = append(args, "--warmup", "0")
		if t.op == "send" {
			return append(args, "--inline", "236")
		}
		return append(args, "--inline", "220")
	}
	if t.both {
		args = append(args, "-b")
	}
	return append(args, "--depth", "128", "--cq-mod", strconv.Itoa(t.moderation()), "--inline", "0")
}

// deviceOf finds the device with an address, and the address's slot in its
// table.
func deviceOf(address string) (device string, gid int, err error) {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return "", 0, err
	}
	devices, err := uverbs.Devices()
	if err != nil {
		return "", 0, err
	}
	for _, d := range devices {
		ctx, err := d.Open(nil)
		if err != nil {
			continue
		}
		gids, err := ctx.QueryGIDs(1)
		_ = ctx.Close() // nothing was made
		if err != nil {
			continue
		}
		for _, g := range gids {
			if g.GID.Addr() == ip {
				return d.Name, g.Index, nil
			}
		}
	}
	return "", 0, fmt.Errorf("no RDMA device has %v", ip)
}
