package main

type resDoc struct {
	Devices []resDeviceDoc `json:"devices" doc:"RDMA devices"`
	outcome
}

type resDeviceDoc struct {
	Device  string         `json:"device" doc:"RDMA device"`
	Index   int            `json:"index" doc:"identifies the device until it is removed"`
	Totals  []resCountDoc  `json:"totals" doc:"what the kernel counts, whoever holds it"`
	Unknown []string       `json:"unknown" doc:"kinds of objects whose holders this kernel does not name"`
	Holders []resHolderDoc `json:"holders" doc:"who holds objects"`
}

type resCountDoc struct {
	Kind  string `json:"kind" doc:"ctx, pd, cq, qp, srq, mr, cm_id or another name of the kernel"`
	Count uint64 `json:"count" doc:"how many"`
}

type resHolderDoc struct {
	Kind        string        `json:"kind" doc:"process, kernel, unknown (a process that is not visible) or others (counted but not listed)"`
	PID         int           `json:"pid" doc:"process, as this PID namespace numbers it; else 0"`
	Command     string        `json:"command" doc:"its name"`
	Kernel      string        `json:"kernel" doc:"kernel module"`
	Cgroup      string        `json:"cgroup" doc:"its control group"`
	Pod         string        `json:"pod" doc:"UID of its pod"`
	Container   string        `json:"container" doc:"ID of its container"`
	Host        string        `json:"host" doc:"host name inside its container: the pod's name; may be empty"`
	Objects     []resCountDoc `json:"objects" doc:"its objects"`
	MemoryBytes uint64        `json:"memory_bytes" doc:"bytes of its memory regions"`
	Queues      []resQPDoc    `json:"queue_pairs" doc:"its queue pairs"`
	IDs         []resIDDoc    `json:"cm_ids" doc:"its connection manager IDs"`
}

type resQPDoc struct {
	Number uint32 `json:"number" doc:"queue pair number"`
	Remote uint32 `json:"remote" doc:"the peer's; 0 without a peer"`
	Port   uint32 `json:"port" doc:"port of the device; 0 when not said"`
	Type   string `json:"type" doc:"RC, UC, UD, GSI, …"`
	State  string `json:"state" doc:"RESET, INIT, RTR, RTS, SQD, SQE or ERR"`
}

type resIDDoc struct {
	State       string `json:"state" doc:"such as LISTEN or CONNECT"`
	PortSpace   string `json:"port_space" doc:"TCP, UDP, IPOIB or IB"`
	Source      string `json:"source" doc:"own address; empty when not set"`
	Destination string `json:"destination" doc:"the peer's address; empty when not set"`
	QPNumber    uint32 `json:"qp" doc:"queue pair number; 0 without one"`
}
