package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/holders"
)

// addHolders says who has the port that could not be had.
func (a *app) addHolders(e *errorDoc, err error) {
	port, ok := localPortOf(err)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	devices, _ := a.sys.holders(ctx) // not known without
	if who := portHolders(devices, port); len(who) > 0 {
		e.Remedy += "; the port is held by " + joinList(who)
	} else {
		e.Remedy += "; rdmaprobe res -v, as root, shows who has it"
	}
}

// localPortOf finds the port of the own address in an error.
func localPortOf(err error) (uint16, bool) {
	var text string
	var op *cm.OpError
	var f *failure
	if errors.As(err, &op) && op.Local != nil {
		text = op.Local.String()
	} else if errors.As(err, &f) {
		text = f.object
	}
	_, port, splitErr := net.SplitHostPort(text)
	n, numErr := strconv.ParseUint(port, 10, 16)
	return uint16(n), splitErr == nil && numErr == nil && n != 0
}

// portHolders names who has bound a port of RDMA: each process once, with the
// address. A listener on all addresses is listed with those of each device.
func portHolders(devices []holders.Device, port uint16) (who []string) {
	for _, d := range devices {
		for _, h := range d.Holders {
			for _, id := range h.IDs {
				if id.Source.Port() != port || id.State != "LISTEN" && id.State != "ADDR_BOUND" {
					continue
				}
				name := h.Kernel
				if name == "" {
					name = fmt.Sprintf("%s (pid %d)", h.Command, h.PID)
				}
				if !slices.ContainsFunc(who, func(s string) bool { return s == name }) {
					who = append(who, name)
				}
			}
		}
	}
	return who
}
