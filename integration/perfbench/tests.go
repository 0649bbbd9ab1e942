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
	event bool
	size  int
	count int
}

func (t test) name() string {
	mode := "poll"
	if t.event {
		mode = "event"
	}
	return fmt.Sprintf("%s %s %s %d", t.op, t.kind, mode, t.size)
}

// tests are all of them, with counts that take a second or so on an emulated
// processor.
func tests(scale float64) (list []test) {
	n := func(count int) int { return max(int(float64(count)*scale), 5) }
	for _, event := range []bool{false, true} {
		for _, op := range []string{"send", "write", "read"} {
			if event && op == "write" {
				continue // perftest: "Events feature not available on WRITE verb"
			}
			for _, size := range []int{2, 64, 4096} {
				list = append(list, test{op, "lat", event, size, n(1000)})
			}
			for _, s := range []struct{ size, count int }{{64, 3000}, {4096, 2000}, {65536, 200}, {1 << 20, 20}} {
				list = append(list, test{op, "bw", event, s.size, n(s.count)})
			}
		}
	}
	return list
}

// perftest is the command line of the C program.
func (t test) perftest(device string, gid, port int) []string {
	args := []string{"ib_" + t.op + "_" + t.kind, "-F", "-d", device, "-x", strconv.Itoa(gid), "-p", strconv.Itoa(port),
		"-s", strconv.Itoa(t.size), "-n", strconv.Itoa(t.count)}
	if t.event {
		args = append(args, "-e")
	}
	return args
}

// probe is the command line of rdmaprobe, with perftest's defaults.
func (t test) probe(where netip.AddrPort) []string {
	mode := "poll"
	if t.event {
		mode = "event"
	}
	args := []string{"rdmaprobe", "bench", t.kind, where.String(), "--json", "--op", t.op, "--mode", mode,
		"--size", strconv.Itoa(t.size), "-n", strconv.Itoa(t.count)}
	if t.kind == "lat" {
		args = append(args, "--warmup", "0")
		if t.op == "send" {
			return append(args, "--inline", "236")
		}
		return append(args, "--inline", "220")
	}
	return append(args, "--depth", "128", "--cq-mod", "100", "--inline", "0")
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
