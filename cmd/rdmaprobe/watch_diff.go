package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"
)

// A snapshot is all devices at one moment, by index: names may change.
type snapshot map[int]watchDevice

type watchDevice struct {
	Name, Driver string
	Ports        map[int]watchPort
}

type watchPort struct {
	State, Phys, Netdev string
	MTU                 int
	GIDs                map[int]string // slot: GID, type and network device; nil when never read
	GIDErr              string         // why they could not be read now
	Counters            map[string]uint64
}

type watchDoc struct {
	Time   time.Time `json:"time" doc:"when it was noticed"`
	Event  string    `json:"event" doc:"started, present, device-added, device-removed, device-renamed, port, gid-added, gid-removed, gids-unreadable, counter, async, stopped or failed"`
	Device string    `json:"device,omitempty" doc:"RDMA device"`
	Port   int       `json:"port,omitempty" doc:"port of the device; 0 when it is about all"`
	Name   string    `json:"name,omitempty" doc:"port: what changed, such as state; counter: its name"`
	Old    string    `json:"old,omitempty" doc:"value before"`
	New    string    `json:"new,omitempty" doc:"value now"`
	Text   string    `json:"text" doc:"all of it in words"`
	outcome
}

func (d watchDoc) where() string {
	switch {
	case d.Device == "":
		return "-"
	case d.Port == 0:
		return d.Device
	}
	return fmt.Sprintf("%s/%d", d.Device, d.Port)
}

// keep takes over from the look before what could not be read now: ports that are
// missing, and tables of GIDs.
func (now snapshot) keep(last snapshot) {
	for i, d := range now {
		for n, was := range last[i].Ports {
			p, read := d.Ports[n]
			switch {
			case !read:
				d.Ports[n] = was
			case p.GIDErr != "":
				p.GIDs = was.GIDs
				d.Ports[n] = p
			}
		}
	}
}

// changes says what happened between two looks, in a stable order.
func changes(old, now snapshot) (out []watchDoc) {
	for _, i := range slices.Sorted(maps.Keys(old)) {
		if _, still := now[i]; !still {
			out = append(out, watchDoc{Event: "device-removed", Device: old[i].Name, Old: old[i].Name, Text: "device removed"})
		}
	}
	for _, i := range slices.Sorted(maps.Keys(now)) {
		d := now[i]
		was, known := old[i]
		switch {
		case !known:
			out = append(out, watchDoc{Event: "device-added", Device: d.Name, New: d.Name, Text: "device, driver " + d.Driver})
		case was.Name != d.Name:
			out = append(out, watchDoc{Event: "device-renamed", Device: d.Name, Old: was.Name, New: d.Name,
				Text: fmt.Sprintf("device renamed from %s", was.Name)})
		}
		for _, n := range slices.Sorted(maps.Keys(d.Ports)) {
			out = append(out, portChanges(d.Name, n, was.Ports[n], d.Ports[n], known)...)
		}
	}
	return out
}

func portChanges(device string, port int, old, now watchPort, known bool) (out []watchDoc) {
	add := func(d watchDoc) {
		d.Device, d.Port = device, port
		out = append(out, d)
	}
	for _, f := range []struct{ name, old, now string }{
		{"state", old.State, now.State}, {"physical state", old.Phys, now.Phys},
		{"network device", old.Netdev, now.Netdev}, {"MTU", mtuText(old.MTU), mtuText(now.MTU)},
	} {
		switch {
		case f.old == f.now:
		case !known:
			add(watchDoc{Event: "port", Name: f.name, New: f.now, Text: f.name + " " + f.now})
		default:
			add(watchDoc{Event: "port", Name: f.name, Old: f.old, New: f.now,
				Text: fmt.Sprintf("%s %s -> %s", f.name, orDash(f.old), orDash(f.now))})
		}
	}
	if now.GIDErr != "" && now.GIDErr != old.GIDErr {
		add(watchDoc{Event: "gids-unreadable", Text: "GIDs cannot be read: " + now.GIDErr})
	}
	added := "gid-added"
	if old.GIDErr != "" && old.GIDs == nil {
		added = "present" // perhaps for long
	}
	for _, slot := range slices.Sorted(maps.Keys(old.GIDs)) {
		if g := old.GIDs[slot]; now.GIDs[slot] != g {
			add(watchDoc{Event: "gid-removed", Name: strconv.Itoa(slot), Old: g, Text: fmt.Sprintf("GID %d removed: %s", slot, g)})
		}
	}
	for _, slot := range slices.Sorted(maps.Keys(now.GIDs)) {
		if g := now.GIDs[slot]; old.GIDs[slot] != g {
			add(watchDoc{Event: added, Name: strconv.Itoa(slot), New: g, Text: fmt.Sprintf("GID %d: %s", slot, g)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now.Counters)) {
		was, had := old.Counters[name]
		if v := now.Counters[name]; had && v != was {
			add(watchDoc{Event: "counter", Name: name, Old: fmt.Sprint(was), New: fmt.Sprint(v), Text: counterText(name, was, v)})
		}
	}
	return out
}

func counterText(name string, was, now uint64) string {
	if now < was {
		return fmt.Sprintf("%s fell from %d to %d", name, was, now) // reset
	}
	return fmt.Sprintf("%s +%d, now %d", name, now-was, now)
}

// mtuText is empty for an MTU that is not known.
func mtuText(mtu int) string {
	if mtu == 0 {
		return ""
	}
	return strconv.Itoa(mtu)
}
