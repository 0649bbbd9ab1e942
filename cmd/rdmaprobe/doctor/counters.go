package doctor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errorCounters are the counters of which any increase means that something
// was lost, refused or repeated, with what to look at.
var errorCounters = map[string]string{
	"symbol_error":                    "cable or transceiver",
	"link_error_recovery":             "cable or transceiver",
	"link_downed":                     "cable, transceiver or switch",
	"local_link_integrity_errors":     "cable or transceiver",
	"excessive_buffer_overrun_errors": "flow control of the fabric",
	"port_rcv_errors":                 "cable or transceiver",
	"port_rcv_remote_physical_errors": "a cable further away",
	"port_rcv_constraint_errors":      "partition keys",
	"port_xmit_constraint_errors":     "partition keys",
	"port_xmit_discards":              "congestion, or a link that is down",
	"VL15_dropped":                    "the subnet manager's traffic",
	"duplicate_request":               "loss or congestion on the way back",
	"implied_nak_seq_err":             "loss on the way",
	"local_ack_timeout_err":           "loss on the way, or a peer that is gone",
	"out_of_buffer":                   "receivers that post too few receives",
	"out_of_sequence":                 "loss on the way",
	"packet_seq_err":                  "loss on the way",
	"rnr_nak_retry_err":               "receivers that post too few receives",
	"rx_icrc_encapsulated":            "damaged packets",
	"resp_cqe_error":                  "requests that failed",
	"req_cqe_error":                   "requests that failed",
	"roce_adp_retrans_to":             "loss on the way",
	"ack_timeout_err":                 "loss on the way, or a peer that is gone",
	"completer_retry_err":             "loss on the way, or a peer that is gone",
	"retry_exceeded_err":              "a peer that is gone, or a wrong route, GID or MTU",
	"retry_rnr_exceeded_err":          "receivers that post too few receives",
	"send_rnr_err":                    "receivers that post too few receives",
	"send_err":                        "the interface that takes the packets",
	"out_of_seq_request":              "loss on the way",
	"res_tx_pkt_seq_err":              "loss on the way",
	"res_rx_dup_err":                  "loss on the way back",
	"res_oor_err":                     "receivers that post too few receives",
	"max_retry_exceeded":              "a peer that is gone, or a wrong route, GID or MTU",
	"rnr_naks_rcvd":                   "receivers that post too few receives",
	"to_retransmits":                  "loss on the way, or a peer that is gone",
	"seq_err_naks_rcvd":               "loss on the way",
	"rx_roce_discards":                "congestion",
	"rx_roce_error_pkts":              "damaged packets",
	"unrecoverable_err":               "the card",
	"bad_resp_err":                    "the peer's driver",
	"local_qp_op_err":                 "requests that failed",
	"local_protection_err":            "memory that is not registered",
	"mem_mgmt_op_err":                 "registration by requests",
	"remote_invalid_req_err":          "what the peer's program asks for",
	"remote_access_err":               "keys and access rights of memory",
	"remote_op_err":                   "requests that failed at the peer",
	"rcvd_seq_err":                    "loss on the way",
	"cnp_drops":                       "congestion",
}

// IsErrorCounter reports whether a counter is among those that are looked at.
func IsErrorCounter(name string) bool { return errorCounters[name] != "" }

// checkCounters tells errors that happen now from old ones: counters start when
// the device is made.
func checkCounters(f *Facts, r *Result) {
	read, nonzero := 0, 0
	for _, d := range f.Devices {
		for _, p := range d.Ports {
			read += len(p.Counters.After)
			growing, old := p.Counters.split()
			nonzero += len(growing) + len(old)
			if len(growing) > 0 {
				r.find("RP-CNT-001", portName(d, p), "errors are being counted: "+strings.Join(growing, ", "), p.Counters.evidence(growing), advice(growing))
			}
			if len(old) > 0 {
				r.find("RP-CNT-002", portName(d, p), "errors were counted since the device was made: "+strings.Join(old, ", "),
					p.Counters.evidence(old)+", none during the check", advice(old))
			}
			if n := len(p.Counters.Unreadable); n > 0 {
				r.find("RP-CNT-003", portName(d, p), fmt.Sprintf("%d counters cannot be read: %s", n, strings.Join(p.Counters.Unreadable, ", ")),
					"sysfs has no number in them", "none is needed; newer firmware may have them")
			}
		}
	}
	r.Summary = fmt.Sprintf("%d read, %d not zero", read, nonzero)
	switch {
	case len(f.Devices) == 0:
		r.nothing("no device")
	case read == 0:
		r.unknown("none readable")
	}
}

// split sorts the names of error counters that are not zero.
func (c Counters) split() (growing, old []string) {
	for _, name := range slices.Sorted(maps.Keys(c.After)) {
		after := c.After[name]
		if !IsErrorCounter(name) || after == 0 {
			continue
		}
		if before, ok := c.Before[name]; ok && after > before {
			growing = append(growing, name)
		} else {
			old = append(old, name)
		}
	}
	return growing, old
}

func (c Counters) evidence(names []string) string {
	var out []string
	for _, n := range names {
		s := fmt.Sprintf("%s %d", n, c.After[n])
		if grown := c.After[n] - c.Before[n]; c.After[n] > c.Before[n] && c.Before != nil {
			s += fmt.Sprintf(" (+%d)", grown)
		}
		out = append(out, s)
	}
	return strings.Join(out, ", ")
}

func advice(names []string) string {
	var out []string
	for _, n := range names {
		if a := errorCounters[n]; !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	return "look at: " + strings.Join(out, "; ")
}
