package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
	"github.com/purerdma/rdma/uverbs"
)

// linkTimeout bounds adding and deleting a link. The kernel needs
// milliseconds, except where deleting waits for processes to close the device.
const linkTimeout = 10 * time.Second

func newRXE(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rxe",
		Short: "Make, remove and list soft-RoCE devices",
		Long: `rxe makes, removes and lists soft-RoCE devices: RDMA on any network device, done
by the kernel module rdma_rxe. Adding and removing needs root.`,
		Example: "  rdmaprobe rxe add eth0\n  rdmaprobe rxe del rxe0",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return &usageError{msg: "rxe: say what to do: add, del or list", remedy: "rdmaprobe rxe --help"}
		},
	}
	cmd.AddCommand(newRXEAdd(a), newRXEDel(a), newRXEList(a))
	return cmd
}

func newRXEAdd(a *app) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "add NETDEV",
		Short: "Make a soft-RoCE device on a network device",
		Long: `add makes a soft-RoCE device on a network device, which should be up. The kernel
loads the module rdma_rxe by itself where it can.`,
		Example: "  rdmaprobe rxe add eth0\n  rdmaprobe rxe add eth0 --name rxe_eth0",
		Args:    needOne("the network device"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			doc := &rxeDoc{Action: "add", Link: linkDoc{Name: name, Driver: "rxe", Netdev: args[0], Addresses: []string{}}}
			a.doc = doc
			ctx, cancel := context.WithTimeout(cmd.Context(), linkTimeout)
			defer cancel()
			d, err := a.sys.addLink(ctx, uverbs.LinkConfig{Name: name, Netdev: args[0]})
			if err != nil {
				return err
			}
			doc.Link = a.newLinkDoc(d)
			a.printf("added %s on %s, port %s\n", plain.Text(doc.Link.Name), plain.Text(doc.Link.Netdev), doc.Link.State)
			for _, note := range a.onLoopback([]*uverbs.Device{d}) {
				doc.Warnings = append(doc.Warnings, note)
				a.printf("warning: %s\n", wrap(note, 9))
			}
			if doc.Link.State != uverbs.PortActive.String() {
				a.printf("bring %s up before the first connection\n", plain.Text(doc.Link.Netdev))
			}
			return nil
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "name of the new device (default: the first free of rxe0, rxe1, ...)")
	return cmd
}

func newRXEDel(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "del NAME",
		Aliases: []string{"delete"},
		Short:   "Remove a soft-RoCE device",
		Example: "  rdmaprobe rxe del rxe0",
		Args:    needOne("the name of the RDMA device"),
		RunE: action(func(cmd *cobra.Command, args []string) error {
			a.doc = &rxeDoc{Action: "del", Link: linkDoc{Name: args[0], Addresses: []string{}}}
			ctx, cancel := context.WithTimeout(cmd.Context(), linkTimeout)
			defer cancel()
			if err := a.sys.deleteLink(ctx, args[0]); err != nil {
				return err
			}
			a.printf("deleted %s\n", plain.Text(args[0]))
			return nil
		}),
	}
}

func newRXEList(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "Show soft RDMA devices and what they are on",
		Example: "  rdmaprobe rxe list",
		Args:    cobra.NoArgs,
		RunE: action(func(*cobra.Command, []string) error {
			doc := &rxeListDoc{Links: []linkDoc{}}
			a.doc = doc
			rows := [][]string{{"DEVICE", "DRIVER", "NETDEV", "STATE", "ADDRESS"}}
			for _, d := range a.sys.diagnose().Devices {
				if d.Driver() != "rxe" && d.Driver() != "siw" {
					continue
				}
				l := a.newLinkDoc(d)
				doc.Links = append(doc.Links, l)
				rows = append(rows, perAddress([]string{l.Name, l.Driver, l.Netdev, l.State}, l.Addresses)...)
			}
			if len(doc.Links) == 0 {
				return &failure{step: "look for soft RDMA devices", err: uverbs.ErrNoDevice,
					remedy: "rdmaprobe rxe add NETDEV makes one"}
			}
			table(a.out, rows)
			for _, note := range a.onLoopback(a.sys.diagnose().Devices) {
				doc.Warnings = append(doc.Warnings, note)
				a.printf("warning: %s\n", wrap(note, 9))
			}
			return nil
		}),
	}
}

// newLinkDoc describes a soft device, which has one port.
func (a *app) newLinkDoc(d *uverbs.Device) linkDoc {
	l := linkDoc{Name: d.Name, Driver: d.Driver(), Addresses: []string{}}
	if len(d.Ports) > 0 {
		l.Netdev, l.State = d.Ports[0].Netdev, d.Ports[0].State.String()
		l.Addresses = a.portAddresses(d, d.Ports[0])
	}
	return l
}
