package main

import (
	"time"

	"github.com/purerdma/rdma/uverbs"
)

// The types in this file are the JSON that commands print. The tag doc of each
// field is its description in docs/schema and docs/json.md, which a test keeps
// up to date. Fields may be added; names and meanings are stable.

// document is what a command prints as JSON.
type document interface{ setError(*errorDoc) }

// outcome is part of every document.
type outcome struct {
	Error *errorDoc `json:"error,omitempty" doc:"present when the command failed"`
}

func (o *outcome) setError(e *errorDoc) { o.Error = e }

// failureDoc is printed when there is nothing but a failure.
type failureDoc struct{ outcome }

type errorDoc struct {
	Command  string       `json:"command" doc:"the command that failed"`
	Class    string       `json:"class" doc:"kind of failure; stable"`
	ExitCode int          `json:"exit_code" doc:"the program's exit code: 1 check failed, 2 usage, 3 no device, 4 permission, 5 unreachable or time-out, 6 rejected"`
	Step     string       `json:"step" doc:"what was being done"`
	Object   string       `json:"object" doc:"what it was done to: addresses, device; may be empty"`
	Cause    string       `json:"cause" doc:"why it failed"`
	Remedy   string       `json:"remedy" doc:"what to check or do; may be empty"`
	AfterMS  float64      `json:"after_ms" doc:"how long the step took until it failed, in milliseconds; 0 when not measured"`
	Message  string       `json:"message" doc:"all of it in one line"`
	Findings []findingDoc `json:"findings,omitempty" doc:"what is missing on this machine, when the exit code is 3"`
}

type findingDoc struct {
	ID      string `json:"id" doc:"stable name of the finding, such as RP-MOD-001"`
	Object  string `json:"object" doc:"the module, device or file concerned"`
	Problem string `json:"problem" doc:"what is wrong, and how that was found out"`
	Remedy  string `json:"remedy" doc:"a command or an advice; may be empty"`
}

func newFindingDoc(f uverbs.Finding) findingDoc {
	return findingDoc{ID: f.ID, Object: f.Object, Problem: f.Problem, Remedy: f.Remedy}
}

type listDoc struct {
	Kernel     string       `json:"kernel" doc:"kernel release"`
	Source     string       `json:"source" doc:"where devices were looked up: netlink, sysfs or none"`
	NetnsMode  string       `json:"netns_mode" doc:"shared or exclusive; empty when not known"`
	CopyOnFork bool         `json:"copy_on_fork" doc:"whether fork copies registered memory"`
	CM         cmDoc        `json:"connection_manager" doc:"the connection manager's device"`
	Modules    []moduleDoc  `json:"modules" doc:"kernel modules that matter"`
	Devices    []deviceDoc  `json:"devices" doc:"RDMA devices in the order of their index"`
	Findings   []findingDoc `json:"findings" doc:"what stands in the way, the most basic first"`
	outcome
}

type cmDoc struct {
	Path       string `json:"path" doc:"the device node; empty when the kernel has none"`
	Major      uint32 `json:"major" doc:"major number the node must have"`
	Minor      uint32 `json:"minor" doc:"minor number the node must have"`
	ABIVersion int    `json:"abi_version" doc:"version of its interface"`
	usabilityDoc
}

type moduleDoc struct {
	Name     string `json:"name" doc:"kernel module"`
	State    string `json:"state" doc:"present, not loaded, not installed or unknown"`
	Evidence string `json:"evidence" doc:"how that was found out"`
}

type usabilityDoc struct {
	Usable bool   `json:"usable" doc:"whether opening it worked"`
	State  string `json:"state" doc:"usable, or what stands in the way"`
	Reason string `json:"reason" doc:"details; empty when usable"`
	Remedy string `json:"remedy" doc:"what to do; may be empty"`
}

func newUsabilityDoc(u uverbs.Usability) usabilityDoc {
	return usabilityDoc{Usable: u.OK(), State: string(u.State), Reason: u.Reason, Remedy: u.Remedy}
}

type deviceDoc struct {
	Name         string    `json:"name" doc:"the kernel's name"`
	Index        int       `json:"index" doc:"identifies the device until it is removed; -1 when not known"`
	Driver       string    `json:"driver" doc:"kernel driver, such as rxe or mlx5"`
	Protocol     string    `json:"protocol" doc:"ib, roce, iw, opa or usnic"`
	NodeType     string    `json:"node_type" doc:"kind of device, such as CA"`
	NodeGUID     string    `json:"node_guid" doc:"node GUID"`
	SysImageGUID string    `json:"sys_image_guid" doc:"GUID of the card"`
	Firmware     string    `json:"firmware" doc:"firmware version; empty for soft devices"`
	CharDevice   charDoc   `json:"char_device" doc:"the verbs device node"`
	Ports        []portDoc `json:"ports" doc:"ports in the order of their numbers"`
	Problems     []string  `json:"problems" doc:"what could not be found out"`
	usabilityDoc           // of the device as a whole
}

type charDoc struct {
	Path       string `json:"path" doc:"the device node; empty when the kernel has none"`
	Major      uint32 `json:"major" doc:"major number the node must have"`
	Minor      uint32 `json:"minor" doc:"minor number the node must have"`
	ABIVersion int    `json:"abi_version" doc:"version of the driver's interface"`
}

type portDoc struct {
	Port      int      `json:"port" doc:"port number"`
	State     string   `json:"state" doc:"logical state, such as ACTIVE"`
	PhysState string   `json:"phys_state" doc:"state of the physical link"`
	LinkLayer string   `json:"link_layer" doc:"Ethernet or InfiniBand"`
	LID       uint32   `json:"lid" doc:"local identifier; 0 except on InfiniBand"`
	Netdev    string   `json:"netdev" doc:"network device; empty when it is not in this network namespace"`
	NetdevMTU int      `json:"netdev_mtu" doc:"its MTU in bytes; 0 when not known"`
	SpeedMbps int      `json:"speed_mbps" doc:"signalling speed in Mbit/s; 0 when not known"`
	Width     int      `json:"width" doc:"number of lanes; 0 when not known"`
	GIDs      []gidDoc `json:"gids" doc:"used slots of the GID table"`
}

type gidDoc struct {
	Index   int    `json:"index" doc:"slot of the table"`
	GID     string `json:"gid" doc:"the GID in IPv6 notation"`
	Type    string `json:"type" doc:"IB, RoCE v1 or RoCE v2"`
	Netdev  string `json:"netdev" doc:"network device it belongs to"`
	Address string `json:"address" doc:"the IP address, if that network device has it now, with a zone when link-local; else empty"`
}

type rxeListDoc struct {
	Links    []linkDoc `json:"links" doc:"soft RDMA devices"`
	Warnings []string  `json:"warnings,omitempty" doc:"devices that are of no use, and why"`
	outcome
}

type rxeDoc struct {
	Action   string   `json:"action" doc:"add or del"`
	Link     linkDoc  `json:"link" doc:"the soft RDMA device"`
	Warnings []string `json:"warnings,omitempty" doc:"what makes it useless"`
	outcome
}

type linkDoc struct {
	Name      string   `json:"name" doc:"RDMA device"`
	Driver    string   `json:"driver" doc:"rxe or siw"`
	Netdev    string   `json:"netdev" doc:"network device that carries its traffic"`
	State     string   `json:"state" doc:"state of its port"`
	Addresses []string `json:"addresses" doc:"IP addresses it can be reached at"`
}

type pingDoc struct {
	Target      string    `json:"target" doc:"host:port as asked for"`
	Local       string    `json:"local" doc:"address of this end; empty without a connection"`
	Remote      string    `json:"remote" doc:"address of the server; empty without a connection"`
	Device      string    `json:"device" doc:"RDMA device used"`
	Size        int       `json:"size" doc:"bytes of each ping"`
	PathMTU     int       `json:"path_mtu" doc:"bytes of data in a packet of this connection, as its queue pair says; 0 when not known"`
	ConnectMS   float64   `json:"connect_ms" doc:"time the connection took, in milliseconds"`
	Steps       []stepDoc `json:"steps" doc:"steps of the connection"`
	Sent        uint64    `json:"sent" doc:"pings sent"`
	Verified    uint64    `json:"verified" doc:"pings that came back with the right data"`
	LossPercent float64   `json:"loss_percent" doc:"pings not verified, of those sent"`
	TimeMS      float64   `json:"time_ms" doc:"from the first ping to the end of the last, in milliseconds"`
	RTT         rttDoc    `json:"rtt" doc:"round trip times"`
	Pings       []pongDoc `json:"pings,omitempty" doc:"each ping; only with -v; after 10000 only the last one is kept"`
	You         *endDoc   `json:"you,omitempty" doc:"this end; absent when not known"`
	Peer        *endDoc   `json:"peer,omitempty" doc:"the other end, as it says; absent when it is rping, or an older rdmaprobe"`
	Differences []string  `json:"differences" doc:"what is not the same at both ends though it should be"`
	Sizes       []sizeDoc `json:"sizes,omitempty" doc:"with --data, each size"`
	outcome
}

type pongDoc struct {
	Seq    uint64  `json:"seq" doc:"number of the ping, from 0"`
	TimeMS float64 `json:"time_ms" doc:"round trip time in milliseconds"`
}

type rttDoc struct {
	MinMS  float64 `json:"min_ms" doc:"shortest, in milliseconds"`
	AvgMS  float64 `json:"avg_ms" doc:"mean"`
	MaxMS  float64 `json:"max_ms" doc:"longest"`
	MdevMS float64 `json:"mdev_ms" doc:"standard deviation"`
}

type stepDoc struct {
	Side   string  `json:"side" doc:"setup, client or server"`
	Step   string  `json:"step" doc:"name of the step"`
	TimeMS float64 `json:"time_ms" doc:"how long it took, in milliseconds"`
	Detail string  `json:"detail" doc:"what it found or made"`
}

// serveDoc is one line of the server's JSON.
type serveDoc struct {
	Time      time.Time   `json:"time" doc:"when it happened"`
	Event     string      `json:"event" doc:"listening, connected, ping (with -v), ended, refused, stopped or failed"`
	Listen    string      `json:"listen,omitempty" doc:"listening: the address"`
	Devices   []listenDoc `json:"devices,omitempty" doc:"listening: where clients can reach it"`
	Warnings  []string    `json:"warnings,omitempty" doc:"listening: what keeps clients from coming"`
	Client    string      `json:"client,omitempty" doc:"the client's address"`
	Device    string      `json:"device,omitempty" doc:"RDMA device of the client's connection"`
	Pings     uint64      `json:"pings" doc:"ended: pings of this client; stopped: of all"`
	Bytes     uint64      `json:"bytes" doc:"ended: bytes of this client's data, one way; stopped: of all"`
	Clients   uint64      `json:"clients,omitempty" doc:"stopped: clients served"`
	ElapsedMS float64     `json:"elapsed_ms,omitempty" doc:"ended: how long the connection lasted, in milliseconds"`
	Reason    string      `json:"reason,omitempty" doc:"ended, refused, stopped: why"`
	Peer      *endDoc     `json:"peer,omitempty" doc:"connected: the client's end, as it says; absent when it is rping"`
	Data      string      `json:"data,omitempty" doc:"ping: the text"`
	outcome
}

type listenDoc struct {
	Device    string   `json:"device" doc:"RDMA device"`
	Port      int      `json:"port" doc:"port of the device"`
	State     string   `json:"state" doc:"state of the port"`
	Netdev    string   `json:"netdev" doc:"network device"`
	Addresses []string `json:"addresses" doc:"IP addresses clients can use"`
}

type demoDoc struct {
	Device   string    `json:"device" doc:"RDMA device used"`
	Created  bool      `json:"created" doc:"whether the demo made the device"`
	Address  string    `json:"address" doc:"address it listened on and connected to"`
	Steps    []stepDoc `json:"steps" doc:"steps in the order in which they ended"`
	Sent     uint64    `json:"sent" doc:"pings sent"`
	Verified uint64    `json:"verified" doc:"pings that came back with the right data"`
	RTT      rttDoc    `json:"rtt" doc:"round trip times"`
	Clean    bool      `json:"clean" doc:"whether everything that was made is gone"`
	Verdict  string    `json:"verdict" doc:"one sentence"`
	outcome
}

type versionDoc struct {
	Module   string         `json:"module" doc:"module path"`
	Version  string         `json:"version" doc:"module version; (devel) for a build from a checkout"`
	Revision string         `json:"revision" doc:"commit it was built from; may be empty"`
	Modified bool           `json:"modified" doc:"whether the checkout had changes"`
	Go       string         `json:"go" doc:"Go version"`
	Platform string         `json:"platform" doc:"system and processor"`
	Kernel   string         `json:"kernel" doc:"kernel release"`
	CMABI    int            `json:"rdma_cm_abi" doc:"ABI version of the connection manager; 0 when not there"`
	VerbsABI int            `json:"uverbs_abi" doc:"ABI version of verbs; 0 when not there"`
	Devices  []deviceABIDoc `json:"devices" doc:"ABI version of each device's driver"`
	ABI      *abiDoc        `json:"abi,omitempty" doc:"with --abi, what asking showed"`
	outcome
}

type deviceABIDoc struct {
	Name       string `json:"name" doc:"RDMA device"`
	Driver     string `json:"driver" doc:"kernel driver"`
	ABIVersion int    `json:"abi_version" doc:"version of the driver's interface"`
	DataPath   bool   `json:"data_path" doc:"whether this build has a data path for the driver"`
}
