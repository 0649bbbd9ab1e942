package doctor

import (
	"slices"
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/gidpick"
	"github.com/purerdma/rdma/uverbs"
)

// keep leaves the other devices out, and what concerns them.
func (f *Facts) keep(want func(Device) bool) *Facts {
	out, diag := *f, *f.Diagnosis
	out.Devices, diag.Devices, diag.Usability, out.Cgroups = nil, nil, nil, nil
	var dropped []string
	for i, d := range f.Devices {
		if !want(d) {
			dropped = append(dropped, d.Name)
			continue
		}
		out.Devices = append(out.Devices, d)
		diag.Devices = append(diag.Devices, f.Diagnosis.Devices[i])
		diag.Usability = append(diag.Usability, f.Diagnosis.Usability[i])
	}
	for _, c := range f.Cgroups {
		if !slices.Contains(dropped, c.Device) {
			out.Cgroups = append(out.Cgroups, c)
		}
	}
	out.Diagnosis = &diag
	return &out
}

// foreign lists devices of which this container has neither node nor interface,
// while it has another device that works. In shared mode a container sees all
// devices of the machine; those of others are none of its business.
func (f *Facts) foreign() (names []string) {
	if !f.anyWorks() {
		return nil
	}
	for _, d := range f.Devices {
		given := d.Usability.State != uverbs.NoCharDevice && d.Usability.State != uverbs.DeniedCgroup
		if !given && !f.reaches(d) {
			names = append(names, d.Name)
		}
	}
	return names
}

// anyWorks reports whether a device can be used, with an address.
func (f *Facts) anyWorks() bool { return slices.ContainsFunc(f.Devices, works) }

func works(d Device) bool {
	if d.Usability.State != uverbs.Usable && d.Usability.State != uverbs.NoDataPath {
		return false
	}
	for _, p := range d.Ports {
		for _, g := range p.GIDs {
			if g.Unusable == "" {
				return true
			}
		}
	}
	return false
}

// reaches reports whether an interface of the device is here.
func (f *Facts) reaches(d Device) bool {
	for _, p := range d.Ports {
		if _, here := gidpick.PortNetdev(p.PortInfo, f.Netdevs); here {
			return true
		}
		for _, g := range p.GIDs {
			if g.Here {
				return true
			}
		}
	}
	return false
}

// elsewhere reports whether nothing of a port is in this network namespace, so
// that its state is not for anybody here to mend. InfiniBand ports need no interface.
func (f *Facts) elsewhere(d Device, p Port) bool {
	byNetdev := d.Protocol == uverbs.ProtocolRoCE || d.Protocol == uverbs.ProtocolIWARP
	return byNetdev && f.Netdevs != nil && !f.reaches(Device{Ports: []Port{p}})
}

func noteForeign(names []string, r *Result) {
	if len(names) == 0 {
		return
	}
	r.find("RP-NNS-004", strings.Join(names, ", "), "seen here, but neither node nor interface is in this container: left out",
		"in shared mode every container sees every device", "rdmaprobe doctor --device NAME looks at one all the same")
}
