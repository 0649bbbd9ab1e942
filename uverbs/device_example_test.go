package uverbs_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/purerdma/rdma/uverbs"
)

// List the devices and say whether this process can use them.
func ExampleDevices() {
	devices, err := uverbs.Devices()
	if err != nil {
		log.Fatal(err)
	}
	for _, d := range devices {
		fmt.Println(d.Name, d.Driver(), d.CharDev, d.Usability())
		for _, p := range d.Ports {
			gids, err := d.GIDTable(p.Number)
			fmt.Println(" port", p.Number, p.State, p.Netdev, gids, err)
		}
	}
}

// Say what is missing on this machine and what to do about it.
func ExampleDiagnose() {
	for _, f := range uverbs.Diagnose().Findings {
		fmt.Printf("%s %s: %s\n  %s\n", f.ID, f.Object, f.Problem, f.Remedy)
	}
}

// Make a soft-RoCE device on a network device, as root.
func ExampleAddLink() {
	ctx := context.Background()
	d, err := uverbs.AddLink(ctx, uverbs.LinkConfig{Netdev: "eth0"})
	if errors.Is(err, uverbs.ErrModuleMissing) {
		fmt.Println("no soft-RoCE here:", err)
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("made", d.Name)
	if err := uverbs.DeleteLink(ctx, d.Name); err != nil {
		log.Fatal(err)
	}
}
