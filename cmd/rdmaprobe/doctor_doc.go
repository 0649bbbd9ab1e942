package main

import (
	"strings"

	"github.com/purerdma/rdma/cmd/rdmaprobe/doctor"
)

type doctorDoc struct {
	Kernel    string             `json:"kernel" doc:"kernel release"`
	Source    string             `json:"source" doc:"where devices were looked up: netlink, sysfs or none"`
	NetnsMode string             `json:"netns_mode" doc:"shared or exclusive; empty when not known"`
	Devices   []string           `json:"devices" doc:"names of the devices that were looked at"`
	NeedBytes uint64             `json:"need_bytes" doc:"size of --need in bytes; 0 without"`
	Memory    memoryDoc          `json:"memory" doc:"what bounds the memory that may be registered"`
	Ports     []doctorPortDoc    `json:"ports" doc:"ports of these devices"`
	Netdevs   []interfaceDoc     `json:"interfaces" doc:"network interfaces that lead to these ports"`
	Sections  []sectionDoc       `json:"sections" doc:"what was looked at, the most basic first"`
	Findings  []doctorFindingDoc `json:"findings" doc:"what is wrong: errors first, and among equals the most basic"`
	Unknown   []string           `json:"unknown" doc:"what could not be found out, and why"`
	Pod       *podDoc            `json:"pod,omitempty" doc:"what this container lacks; only with --pod"`
	outcome
}

type memoryDoc struct {
	LimitBytes    int    `json:"limit_bytes" doc:"soft limit on locked memory (RLIMIT_MEMLOCK); -1 for none or not known"`
	PinnedBytes   int    `json:"pinned_bytes" doc:"what this process has pinned"`
	IPCLock       bool   `json:"ipc_lock" doc:"whether CAP_IPC_LOCK is effective; it counts in the initial user namespace only"`
	UserNamespace string `json:"user_namespace" doc:"initial or other; empty when not known"`
	Unbounded     bool   `json:"unbounded" doc:"whether the limit does not count"`
}

type doctorPortDoc struct {
	Device    string `json:"device" doc:"RDMA device"`
	Port      int    `json:"port" doc:"port number"`
	Protocol  string `json:"protocol" doc:"ib, roce, iw, opa or usnic"`
	State     string `json:"state" doc:"logical state, such as ACTIVE"`
	MTU       int    `json:"mtu" doc:"bytes of data in a packet; 0 when not known"`
	Netdev    string `json:"netdev" doc:"network interface; empty when it is not in this network namespace"`
	NetdevMTU int    `json:"netdev_mtu" doc:"its MTU in bytes; 0 when not known"`
	SpeedMbps int    `json:"speed_mbps" doc:"signalling speed in Mbit/s; 0 when not known"`
}

type interfaceDoc struct {
	Netdev   string   `json:"netdev" doc:"name"`
	Kind     string   `json:"kind" doc:"device for hardware, or such as veth, vlan, macvlan, bond"`
	VLAN     int      `json:"vlan" doc:"VLAN number; 0 for none"`
	On       string   `json:"on" doc:"the interface below a VLAN, macvlan or ipvlan; other netns when it is elsewhere"`
	MemberOf string   `json:"member_of" doc:"its bond, bridge or VRF; empty for none"`
	State    string   `json:"state" doc:"up, down or no carrier"`
	MTU      int      `json:"mtu" doc:"MTU in bytes"`
	RDMA     []string `json:"rdma" doc:"the ports, such as rxe0/1"`
}

type sectionDoc struct {
	Name    string `json:"name" doc:"name of the section"`
	Result  string `json:"result" doc:"the severity of the worst finding (note, warning or error); else ok, unknown (it could not be read) or none (there is nothing to look at)"`
	Summary string `json:"summary" doc:"what there is"`
}

type doctorFindingDoc struct {
	ID       string `json:"id" doc:"stable name of the finding, such as RP-MEM-001; rdmaprobe explain tells about each"`
	Severity string `json:"severity" doc:"error (makes the check fail), warning or note"`
	Section  string `json:"section" doc:"the section that found it"`
	Object   string `json:"object" doc:"the module, device, file or limit concerned"`
	Problem  string `json:"problem" doc:"what is wrong"`
	Evidence string `json:"evidence" doc:"how that was found out; may be empty"`
	Remedy   string `json:"remedy" doc:"a command or an advice; may be empty"`
	Doc      string `json:"doc" doc:"where it is explained"`
}

type podDoc struct {
	Kubernetes string   `json:"kubernetes" doc:"the missing part of a pod's manifest; empty when nothing is missing"`
	Docker     string   `json:"docker" doc:"the missing options of docker run; empty when nothing is missing"`
	Host       []string `json:"host" doc:"what only the host can mend"`
}

func (*doctorDoc) hasFindings() {}

func newDoctorDoc(f *doctor.Facts, rep *doctor.Report) *doctorDoc {
	doc := &doctorDoc{Kernel: f.Diagnosis.Kernel, Source: sourceOf(f.Diagnosis), NetnsMode: f.Diagnosis.NetnsMode, NeedBytes: f.Need,
		Devices: []string{}, Ports: []doctorPortDoc{}, Netdevs: []interfaceDoc{}, Memory: newMemoryDoc(f.Memory),
		Sections: []sectionDoc{}, Findings: []doctorFindingDoc{}, Unknown: append([]string{}, f.Unknown...)}
	doc.fillTables(rep.Looked)
	section := map[string]string{}
	for _, r := range rep.Results {
		doc.Sections = append(doc.Sections, sectionDoc{r.Section, r.Verdict(), r.Summary})
		for _, found := range r.Findings {
			section[found.ID+found.Object] = r.Section
		}
	}
	for _, found := range rep.Findings() {
		doc.Findings = append(doc.Findings, doctorFindingDoc{ID: found.ID, Severity: string(found.Severity), Section: section[found.ID+found.Object],
			Object: found.Object, Problem: found.Problem, Evidence: found.Evidence, Remedy: found.Remedy,
			Doc: "docs/findings.md#" + strings.ToLower(found.ID)})
	}
	return doc
}

// fillTables fills what people see as tables.
func (doc *doctorDoc) fillTables(f *doctor.Facts) {
	for _, d := range f.Devices {
		doc.Devices = append(doc.Devices, d.Name)
		for _, p := range d.Ports {
			port := doctorPortDoc{Device: d.Name, Port: p.Number, Protocol: string(d.Protocol), State: p.State.String(),
				Netdev: p.Netdev, NetdevMTU: p.NetdevMTU, SpeedMbps: p.SpeedMbps}
			if p.Attr != nil {
				port.MTU = p.Attr.ActiveMTU.Bytes()
			}
			doc.Ports = append(doc.Ports, port)
		}
	}
	for _, n := range doctor.Interfaces(f) {
		doc.Netdevs = append(doc.Netdevs, interfaceDoc{Netdev: n.Name, Kind: n.Kind, VLAN: n.VLAN, On: n.On, MemberOf: n.MemberOf,
			State: n.State(), MTU: n.MTU, RDMA: n.Ports})
	}
}

func newMemoryDoc(m doctor.Memory) memoryDoc {
	d := memoryDoc{LimitBytes: -1, PinnedBytes: int(m.Pinned), IPCLock: m.IPCLock, UserNamespace: m.UserNamespace, Unbounded: m.Unbounded()}
	if m.Lock.Known && m.Lock.Soft != doctor.Unlimited {
		d.LimitBytes = int(m.Lock.Soft)
	}
	return d
}
