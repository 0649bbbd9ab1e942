package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cmd/rdmaprobe/netinfo"
)

// TestThresholds: what is exactly enough is no finding, and one less is.
func TestThresholds(t *testing.T) {
	bridge := func(mtu int) func(*Facts) {
		return func(f *Facts) {
			f.Netdevs[1].Kind, f.Netdevs[1].MasterIndex = "device", 9
			f.Netdevs = append(f.Netdevs, netinfo.Netdev{Index: 9, Name: "br0", Kind: "bridge", MTU: mtu})
		}
	}
	files := func(n uint64) func(*Facts) { return func(f *Facts) { f.Files.Soft = n } }
	backlog := func(n int) func(*Facts) { return func(f *Facts) { f.MaxBacklog, f.BacklogKnown = n, true } }
	kernel := func(s string) func(*Facts) { return func(f *Facts) { f.Diagnosis.Kernel = s } }
	need := func(n uint64) func(*Facts) {
		return func(f *Facts) { lockLimit(8 * mib)(f); f.Memory.Pinned, f.Need = mib, n }
	}
	cgroup := func(used uint64) func(*Facts) {
		return func(f *Facts) { f.Cgroups = []Cgroup{{"/pod", "rxe0", "hca_object", used, 100}} }
	}
	gsi := func(state string, self Answer) func(*Facts) {
		return func(f *Facts) { first(f).GSI, first(f).Self = state, self }
	}
	largest := func(mtu abi.IBMTU) func(*Facts) {
		return func(f *Facts) { f.Netdevs[1].MTU, f.Netdevs[2].MTU, port(f).Attr.MaxMTU = 9000, 9000, mtu }
	}
	for _, tc := range []struct {
		name  string
		plant func(*Facts)
		want  string // the only finding, or none
	}{
		{"memlock of 1 MiB", lockLimit(mib), ""},
		{"memlock below 1 MiB", lockLimit(mib - 1), "RP-MEM-002"},
		{"need of what is left", need(7 * mib), ""},
		{"need of more than is left", need(7*mib + 1), "RP-MEM-004"},
		{"need of the memory there is", func(f *Facts) { f.Need = 400 * mib }, ""},
		{"need of more memory than there is", func(f *Facts) { f.Need = 400*mib + 1 }, "RP-MEM-006"},
		{"need of the largest region", func(f *Facts) { f.Need, first(f).Attr.MaxMRSize = mib, mib }, ""},
		{"need of more than the largest region", func(f *Facts) { f.Need, first(f).Attr.MaxMRSize = mib+1, mib }, "RP-MEM-005"},
		{"256 files", files(256), ""},
		{"255 files", files(255), "RP-LIM-003"},
		{"backlog of 64", backlog(64), ""},
		{"backlog of 63", backlog(63), "RP-LIM-004"},
		{"RDMA cgroup, 89 of 100", cgroup(89), ""},
		{"RDMA cgroup, 90 of 100", cgroup(90), "RP-CGR-002"},
		{"RDMA cgroup, 99 of 100", cgroup(99), "RP-CGR-002"},
		{"RDMA cgroup, 100 of 100", cgroup(100), "RP-CGR-001"},
		{"kernel 5.10", kernel("5.10.0-amd64"), ""},
		{"kernel 5.9", kernel("5.9.16"), "RP-KRN-001"},
		{"kernel 4.19", kernel("4.19.1"), "RP-KRN-001"},
		{"kernel 6.0", kernel("6.0.0"), ""},
		{"bridge of the same MTU", bridge(1500), ""},
		{"bridge of a smaller MTU", bridge(1499), "RP-PRT-006"},
		{"bridge of a larger MTU", bridge(1501), ""},
		{"pair of a larger MTU", func(f *Facts) { f.Netdevs[2].MTU = 1501 }, ""},
		{"pair of a smaller MTU", func(f *Facts) { f.Netdevs[2].MTU = 1499 }, "RP-PRT-005"},
		{"port that can no larger packets", largest(abi.IB_MTU_1024), ""},
		{"port that can larger packets", largest(abi.IB_MTU_2048), "RP-PRT-004"},
		{"GID table with a slot left", func(f *Facts) { port(f).Attr.GIDTableLen = 4 }, ""},
		{"GID table without", func(f *Facts) { port(f).Attr.GIDTableLen = 3 }, "RP-GID-008"},
		{"queue pair 1 in RTS", gsi("RTS", NotAsked), ""},
		{"queue pair 1 in ERR", gsi("ERR", NotAsked), "RP-CM-002"},
		{"queue pair 1 in SQE", gsi("SQE", Answers), "RP-CM-002"},
		{"queue pair 1 in RTS, silent", gsi("RTS", Silent), "RP-CM-002"},
		{"queue pair 1 unknown, answers", gsi("", Answers), ""},
	} {
		f := healthy()
		tc.plant(f)
		want := []string{}
		if tc.want != "" {
			want = append(want, tc.want)
		}
		if diff := cmp.Diff(want, ids(Run(f))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.name, diff)
		}
	}
}

// TestMaxima: use of each kind of object is compared with the device's maximum of that
// kind.
func TestMaxima(t *testing.T) {
	maxima := map[string]int{"qp": 100, "cq": 200, "mr": 300, "pd": 400, "srq": 500}
	for kind, most := range maxima {
		for used, want := range map[int]string{most / 2: "", most - most/10 - 1: "", most - most/10: "RP-LIM-002", most - 1: "RP-LIM-002", most: "RP-LIM-001"} {
			f := healthy()
			a := first(f).Attr
			a.MaxQP, a.MaxCQ, a.MaxMR, a.MaxPD, a.MaxSRQ = maxima["qp"], maxima["cq"], maxima["mr"], maxima["pd"], maxima["srq"]
			first(f).Resources[kind] = uint64(used)
			got := Run(f).Findings()
			if want == "" && len(got) > 0 || want != "" && (len(got) != 1 || got[0].ID != want || !strings.Contains(got[0].Problem, " "+kind+" ")) {
				t.Errorf("%d of %d %s: %+v, want %q", used, most, kind, got, want)
			}
		}
	}
}

// TestSocketRemedy: from 7.2 on soft-RoCE has a socket in each namespace.
func TestSocketRemedy(t *testing.T) {
	for release, want := range map[string]string{"6.12.95": "network host", "7.1.9": "network host", "7.2.0": "anew", "7.3.1": "anew", "8.0": "anew"} {
		f := healthy()
		f.RoCESocket.Open, f.Diagnosis.Kernel = false, release
		got := Run(f).Findings()
		if len(got) != 1 || got[0].ID != "RP-NNS-003" || !strings.Contains(got[0].Remedy, want) {
			t.Errorf("%s: %+v, want a remedy with %q", release, got, want)
		}
	}
}

func TestSpeed(t *testing.T) {
	for mbps, want := range map[int]string{
		-1: "", 0: "", 100: "0.1 Gb/s", 1000: "1 Gb/s", 2500: "2.5 Gb/s", 10000: "10 Gb/s", 25781: "25.8 Gb/s", 100000: "100 Gb/s",
	} {
		if got := Speed(mbps); got != want {
			t.Errorf("%d Mbit/s is %q, want %q", mbps, got, want)
		}
	}
}

func TestPortTable(t *testing.T) {
	want := [][]string{
		{"DEVICE", "PORT", "PROTOCOL", "STATE", "MTU", "NETDEV", "NETDEV MTU", "SPEED"},
		{"rxe0", "1", "roce", "ACTIVE", "1024 B", "v0", "1500 B", "2.5 Gb/s"},
	}
	if diff := cmp.Diff(want, portTable(healthy())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	f := healthy()
	port(f).Attr, port(f).NetdevMTU, port(f).SpeedMbps = nil, 0, 0
	want[1][4], want[1][6], want[1][7] = "", "", ""
	if diff := cmp.Diff(want, portTable(f)); diff != "" {
		t.Errorf("not known (-want +got):\n%s", diff)
	}
}

// TestErrorCounterNames: the names are the drivers' (rxe_hw_counters.c,
// irdma, mlx5 counters.c, bnxt_re hw_counters.c) and those of the ports in sysfs.c; one
// that is misspelt would never be read.
func TestErrorCounterNames(t *testing.T) {
	names := strings.Fields(`
		symbol_error link_error_recovery link_downed local_link_integrity_errors excessive_buffer_overrun_errors port_rcv_errors
		port_rcv_remote_physical_errors port_rcv_constraint_errors port_xmit_constraint_errors port_xmit_discards VL15_dropped
		duplicate_request rcvd_seq_err out_of_seq_request send_rnr_err ack_timeout_err completer_retry_err retry_exceeded_err
		retry_rnr_exceeded_err send_err
		implied_nak_seq_err local_ack_timeout_err out_of_buffer out_of_sequence packet_seq_err rnr_nak_retry_err rx_icrc_encapsulated
		resp_cqe_error req_cqe_error roce_adp_retrans_to
		res_tx_pkt_seq_err res_rx_dup_err res_oor_err max_retry_exceeded rnr_naks_rcvd to_retransmits seq_err_naks_rcvd rx_roce_discards
		rx_roce_error_pkts unrecoverable_err bad_resp_err local_qp_op_err local_protection_err mem_mgmt_op_err remote_invalid_req_err
		remote_access_err remote_op_err
		cnp_drops`)
	var got []string
	for name := range errorCounters {
		got = append(got, name)
	}
	slices.Sort(names)
	slices.Sort(got)
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
