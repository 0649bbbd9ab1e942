package main

type gidsDoc struct {
	To    string    `json:"to" doc:"the address of --to; empty without"`
	Route *routeDoc `json:"route,omitempty" doc:"how packets to it leave; only with --to"`
	GIDs  []rowDoc  `json:"gids" doc:"all used slots of all GID tables"`
	Full  []string  `json:"full,omitempty" doc:"ports whose GID table has no free slot, and the addresses that got none"`
	outcome
}

type routeDoc struct {
	Netdev  string `json:"netdev" doc:"the interface that carries the packets"`
	Source  string `json:"source" doc:"the address they come from"`
	Gateway string `json:"gateway" doc:"the next hop; empty when the address is on the link"`
	Local   bool   `json:"local" doc:"whether it is an address of this machine"`
}

type rowDoc struct {
	Device   string `json:"device" doc:"RDMA device"`
	Port     int    `json:"port" doc:"its port"`
	Index    int    `json:"index" doc:"slot of the table"`
	GID      string `json:"gid" doc:"the GID in IPv6 notation"`
	Type     string `json:"type" doc:"IB, RoCE v1 or RoCE v2"`
	Netdev   string `json:"netdev" doc:"network interface it belongs to; empty when not known"`
	Here     bool   `json:"here" doc:"whether that interface is in this network namespace"`
	Address  string `json:"address" doc:"the IP address, if the interface has it now, with a zone when link-local; else empty"`
	Usable   bool   `json:"usable" doc:"whether something can be sent from it"`
	Unusable string `json:"unusable" doc:"why not; empty when usable"`
	Picked   bool   `json:"picked" doc:"with --to: whether connections to the address use it"`
	Lost     string `json:"lost" doc:"with --to: why they do not; empty for the picked one"`
}
