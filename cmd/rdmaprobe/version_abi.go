package main

import (
	"context"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor/gather"
	"github.com/purerdma/rdma/internal/rdmanl"
	"github.com/purerdma/rdma/uverbs"
)

// abiDoc is what version --abi finds out by asking.
type abiDoc struct {
	Netlink       string         `json:"netlink" doc:"what RDMA netlink answered: ok, or an error"`
	NetnsMode     string         `json:"netns_mode" doc:"shared or exclusive; empty when not known"`
	CopyOnFork    bool           `json:"copy_on_fork" doc:"whether fork copies registered memory"`
	Notifications bool           `json:"notifications" doc:"whether the kernel tells about devices (kernel 6.12)"`
	CM            string         `json:"rdma_cm" doc:"what opening the connection manager showed: usable, or what stands in the way"`
	Devices       []deviceABISee `json:"devices" doc:"what opening each device showed"`
}

type deviceABISee struct {
	Name      string `json:"name" doc:"RDMA device"`
	State     string `json:"state" doc:"opened, or the error"`
	Interface string `json:"interface" doc:"how commands are given: ioctl or write; empty when it could not be opened"`
	Provider  string `json:"provider" doc:"the data path that was taken; empty without one"`
	Reason    string `json:"reason" doc:"why there is no data path; may be empty"`
	Missing   string `json:"missing" doc:"which of the two interfaces is missing, as in a sandbox; empty when both are there"`
}

// seeABI asks this machine.
func seeABI(diag *uverbs.Diagnosis) *abiDoc {
	doc := &abiDoc{Netlink: "ok", CM: string(diag.CMUsability.State), Devices: []deviceABISee{}}
	if err := doc.askNetlink(); err != nil {
		doc.Netlink = err.Error()
	}
	for _, d := range diag.Devices {
		doc.Devices = append(doc.Devices, seeDevice(d))
	}
	return doc
}

func (doc *abiDoc) askNetlink() error {
	c, err := rdmanl.Open()
	if err != nil {
		return err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	sys, err := c.System(ctx)
	if err != nil {
		return err
	}
	if sys.HasNetnsMode {
		doc.NetnsMode = "exclusive"
		if sys.Shared {
			doc.NetnsMode = "shared"
		}
	}
	doc.CopyOnFork, doc.Notifications = sys.CopyOnFork, sys.Monitor
	return nil
}

func seeDevice(d *uverbs.Device) deviceABISee {
	see := deviceABISee{Name: d.Name, State: "opened"}
	ctx, err := d.Open(nil)
	if err != nil {
		see.State = err.Error()
		return see
	}
	defer ctx.Close() // nothing is made with it
	see.Interface = ctx.CallStyle().String()
	if see.Provider, err = ctx.Provider(); err != nil {
		see.Reason = err.Error()
	}
	facts := doctor.Device{Device: d, Style: ctx.CallStyle(), WriteErr: gather.WriteRefused(d)}
	see.Missing = facts.Missing()
	return see
}

// write prints it for people.
func (doc *abiDoc) write(a *app) {
	a.printf("\nRDMA netlink        %s\n", wrap(doc.Netlink, 20))
	yes := map[bool]string{true: "yes", false: "no"}
	if doc.Netlink != "ok" {
		yes[false] = "not known"
	}
	a.printf("network namespaces  %s\ncopy on fork        %s\nnotifications       %s\nconnection manager  %s\n",
		orDash(doc.NetnsMode), yes[doc.CopyOnFork], yes[doc.Notifications], orDash(doc.CM))
	for _, d := range doc.Devices {
		text := d.State
		if d.Interface != "" {
			text = "opened, commands by " + d.Interface + ", data path " + orDash(d.Provider)
		}
		if d.Reason != "" {
			text += ": " + d.Reason
		}
		if d.Missing != "" {
			text += "; " + d.Missing
		}
		a.printf("%-18s  %s\n", d.Name, wrap(text, 20))
	}
}
