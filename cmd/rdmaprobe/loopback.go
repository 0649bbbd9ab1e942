package main

import (
	"fmt"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/uverbs"
)

// loopbackText says what a device on the loopback interface is good for.
func loopbackText(device, netdev string) string {
	return fmt.Sprintf("%s is on the loopback interface %s: no peer reaches it, and the connection manager takes no loopback address; "+
		"rdmaprobe rxe del %s, and make one on another interface", device, netdev, device)
}

// onLoopback finds ports on the loopback interface.
func (a *app) onLoopback(devices []*uverbs.Device) (notes []string) {
	netdevs, err := a.sys.netdevs()
	if err != nil {
		return nil // nothing is known
	}
	for _, d := range devices {
		for _, p := range d.Ports {
			if n, here := gidpick.PortNetdev(p, netdevs); here && n.Loopback {
				notes = append(notes, loopbackText(d.Name, n.Name))
			}
		}
	}
	return notes
}
