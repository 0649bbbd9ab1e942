package main

type pathDoc struct {
	Target   string         `json:"target" doc:"the address as asked for"`
	Address  string         `json:"address" doc:"the IP address, with its zone when link-local"`
	Stages   []pathStageDoc `json:"stages" doc:"what a connection goes through, in order"`
	Failed   string         `json:"failed" doc:"name of the stage that failed; empty when none did"`
	Device   string         `json:"device" doc:"RDMA device that is used; empty when not known"`
	Port     int            `json:"port" doc:"its port; 0 when not known"`
	GIDIndex int            `json:"gid_index" doc:"slot of the source GID; -1 when not known"`
	GID      string         `json:"gid" doc:"the source GID"`
	Source   string         `json:"source" doc:"the IP address packets come from"`
	Netdev   string         `json:"netdev" doc:"the interface that carries them"`
	MTU      int            `json:"path_mtu" doc:"bytes of data in each packet; 0 when not known"`
	TOS      int            `json:"tos" doc:"type of service of the packets, four times the DSCP; -1 when not known"`
	HopLimit int            `json:"hop_limit" doc:"hop limit of the packets; 0 when not known"`
	outcome
}

type pathStageDoc struct {
	Stage  string  `json:"stage" doc:"route, interface, device, source GID, neighbour, CM address, CM route, path MTU, ToS or hop limit"`
	Result string  `json:"result" doc:"ok, warning, failed or not tried"`
	Detail string  `json:"detail" doc:"what it found"`
	TimeMS float64 `json:"time_ms" doc:"how long it took, in milliseconds; 0 when not measured"`
}
