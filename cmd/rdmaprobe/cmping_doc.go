package main

import (
	"fmt"
	"slices"
	"strings"
)

// The states of a request of cmping. They are stable.
const (
	stateUp         = "up"         // the far connection manager answered
	stateRejected   = "rejected"   // an application, or the far kernel for want of something, refused
	stateNoAnswer   = "no answer"  // resolved, but the connect request was not answered
	stateUnresolved = "unresolved" // no route, neighbour or path
	stateNoDevice   = "no device"  // no RDMA towards that address, or none usable here
	stateNoPort     = "no port"    // every local port is taken
)

type cmpingDoc struct {
	Target      string       `json:"target" doc:"host:port as asked for"`
	Address     string       `json:"address" doc:"IP address it stands for; empty when the name was not found"`
	State       string       `json:"state" doc:"the best that happened: up, rejected, no answer, unresolved, no device or no port; stable"`
	Listener    bool         `json:"listener" doc:"whether something listens on that port"`
	Local       string       `json:"local" doc:"address the last request was sent from; empty when not resolved"`
	Device      string       `json:"device" doc:"RDMA device used"`
	Sent        uint64       `json:"sent" doc:"requests sent"`
	Answered    uint64       `json:"answered" doc:"requests answered, whatever the answer"`
	LossPercent float64      `json:"loss_percent" doc:"requests without an answer, of those sent"`
	TimeMS      float64      `json:"time_ms" doc:"from the first request to the end of the last, in milliseconds"`
	RTT         rttDoc       `json:"rtt" doc:"times from connect request to answer"`
	Probes      []cmProbeDoc `json:"probes" doc:"each request; after 10000 only the last one is kept"`
	outcome
}

type cmProbeDoc struct {
	Seq       uint64     `json:"seq" doc:"number of the request, from 0"`
	State     string     `json:"state" doc:"up, rejected, no answer, unresolved, no device or no port; stable"`
	Answer    string     `json:"answer" doc:"what happened, in words"`
	ResolveMS float64    `json:"resolve_ms" doc:"time to resolve address and route, in milliseconds; 0 when that failed"`
	TimeMS    float64    `json:"time_ms" doc:"time from connect request to answer, in milliseconds; 0 without an answer"`
	WaitedMS  float64    `json:"waited_ms" doc:"time that the whole request took, in milliseconds"`
	Listener  bool       `json:"listener" doc:"whether something listens on that port"`
	Reject    *rejectDoc `json:"reject,omitempty" doc:"present when the answer was a reject"`
}

type rejectDoc struct {
	Reason int    `json:"reason" doc:"reason code of the connection manager; on iWARP a negative errno"`
	Name   string `json:"name" doc:"its name"`
	Text   string `json:"text" doc:"the private data, when it is text or a reject of NVMe over fabrics; else empty"`
	Advice string `json:"advice" doc:"what usually causes the reason; may be empty"`
}

// count adds a request.
func (d *cmpingDoc) count(p cmProbeDoc) {
	d.Probes = keep(d.Probes, p)
	d.Listener = d.Listener || p.Listener
	if p.Seq == 0 || stateRank(p.State) > stateRank(d.State) {
		d.State = p.State
	}
}

// stateRank is the larger, the farther a request came.
func stateRank(state string) int {
	return slices.Index([]string{stateNoPort, stateNoDevice, stateUnresolved, stateNoAnswer, stateRejected, stateUp}, state)
}

// line is a request for people.
func (p cmProbeDoc) line(address string) string {
	s := fmt.Sprintf("%s: seq=%d %s", address, p.Seq, p.State)
	if p.TimeMS > 0 {
		s += " time=" + formatMS(p.TimeMS)
	} else {
		s += " after " + formatMS(p.WaitedMS)
	}
	return fitLine(s + ": " + p.Answer)
}

// fitLine cuts a line that would not fit; JSON has all of it.
func fitLine(s string) string {
	if r := []rune(s); len(r) > lineWidth {
		return strings.TrimRight(string(r[:lineWidth-1]), " ") + "…"
	}
	return s
}

// verdict says in a word or two how it went.
func (d *cmpingDoc) verdict() string {
	if d.State == stateUp && !d.Listener {
		return "up, nothing listens on that port"
	}
	return d.State
}
