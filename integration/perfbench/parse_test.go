//go:build linux

package main

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const latOut = `---------------------------------------------------------------------------------------
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] 
 64      1000          91.10          2501.33      130.42      	     140.00        	44.10		160.00  		2501.33
---------------------------------------------------------------------------------------
`

const bwOut = ` Data ex. method : Ethernet
 #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]
 65536      200              60.10              55.25  		   0.000884
`

func TestParsePerftest(t *testing.T) {
	got, err := parsePerftest(latOut, test{kind: "lat", size: 64, count: 1000})
	if err != nil || got != (sample{value: 130.42, tails: tails{140, 160, 2501.33}, message: 1000}) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = parsePerftest(bwOut, test{kind: "bw", size: 65536, count: 200})
	if err != nil || got.value != 55.25 || got.rate != 884 {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = parsePerftest(bwOut, test{kind: "bw", size: 65536, count: 200, both: true})
	if err != nil || got.message != 400 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parsePerftest(bwOut, test{kind: "bw", size: 2}); err == nil {
		t.Error("no error without a result")
	}
	lost := " 64      300          inf            inf          inf               inf                -nan            inf             inf\n"
	if got, err := parsePerftest(lost, test{kind: "lat", size: 64}); !errors.Is(err, errNoClock) {
		t.Errorf("%+v, %v of a program that does not know its clock", got, err)
	}
}

func TestParseProbe(t *testing.T) {
	got, err := parseProbe(`{"results":[{"messages":10,"mib_per_second":5.5,"messages_per_second":88,"latency":{"p50_us":12.5,"mean_us":14.5,"p99_us":30,"p99_9_us":55}}]}`, test{kind: "lat", count: 10})
	if err != nil || got.value != 12.5 || got.tails != (tails{14.5, 30, 55}) {
		t.Errorf("%+v, %v", got, err)
	}
	both := `{"results":[{"messages":10,"mib_per_second":5.5,"messages_per_second":88,"reverse":{"mib_per_second":4.5,"messages_per_second":72}}]}`
	got, err = parseProbe(both, test{kind: "bw", both: true, count: 10})
	if err != nil || got != (sample{value: 10, rate: 160, message: 20}) {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseProbe(`{"results":[{"messages":9}]}`, test{kind: "bw", count: 10}); err == nil {
		t.Error("no error for another count")
	}
}

func TestCommandLines(t *testing.T) {
	where := netip.MustParseAddrPort("10.0.0.1:7")
	for _, tt := range []struct {
		test    test
		c, rest string
	}{
		{test{op: "read", kind: "bw", mode: "event", size: 65536, count: 100}, "ib_read_bw -F -d rxe0 -x 1 -p 7 -s 65536 -n 100 -e",
			"bw 10.0.0.1:7 --json --op read --mode event --size 65536 -n 100 --depth 128 --cq-mod 100 --inline 0"},
		{test{op: "send", kind: "bw", mode: "poll", both: true, size: 65536, count: 100}, "ib_send_bw -F -d rxe0 -x 1 -p 7 -s 65536 -n 100 -b",
			"bw 10.0.0.1:7 --json --op send --mode poll --size 65536 -n 100 -b --depth 128 --cq-mod 1 --inline 0"},
		{test{op: "send", kind: "lat", mode: "event", size: 2, count: 9}, "ib_send_lat -F -d rxe0 -x 1 -p 7 -s 2 -n 9 -e -t 9 -Q 1",
			"lat 10.0.0.1:7 --json --op send --mode event --size 2 -n 9 --warmup 0 --inline 236"},
		{test{op: "send", kind: "lat", mode: "poll", size: 2, count: 9}, "ib_send_lat -F -d rxe0 -x 1 -p 7 -s 2 -n 9",
			"lat 10.0.0.1:7 --json --op send --mode poll --size 2 -n 9 --warmup 0 --inline 236"},
	} {
		if diff := cmp.Diff(tt.c, strings.Join(tt.test.perftest("rxe0", 1, 7), " ")); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff("rdmaprobe bench "+tt.rest, strings.Join(tt.test.probe(where), " ")); diff != "" {
			t.Error(diff)
		}
	}
	seen := map[string]bool{}
	for _, tt := range tests(1) {
		if seen[tt.name()] {
			t.Errorf("%s twice", tt.name())
		}
		seen[tt.name()] = true
	}
}

func TestPrint(t *testing.T) {
	var out strings.Builder
	b := &bench{out: &out, list: []test{
		{op: "send", kind: "lat", mode: "poll", size: 64, count: 10},
		{op: "read", kind: "bw", mode: "event", size: 1 << 20, count: 10},
		{op: "write", kind: "bw", mode: "event", size: 4096, count: 10},
		{op: "write", kind: "bw", mode: "poll", both: true, size: 4096, count: 10},
	}}
	b.results = []pair{
		{[]sample{{value: 100, tails: tails{250, 400, 400}, message: 10}, {value: 300, tails: tails{250, 400, 400}, message: 10}, {value: 200, tails: tails{250, 400, 400}, message: 10}}, []sample{{value: 250, tails: tails{300, 500, 600}, message: 10}}},
		{[]sample{{value: 50, rate: 50, message: 10, cpu: time.Second}}, []sample{{value: 60, rate: 60, message: 10, cpu: time.Second}}},
		{nil, []sample{{value: 60, rate: 15360, message: 10}}},
		{}, // failed
	}
	b.print()
	for _, want := range []string{
		", 1 rounds:\n",
		"| send, poll | 64 | 200 (100 to 300) | 250 (250 to 250) | 1.25 | 0.00 | 0.00 |",
		"| test | bytes | p50: C | Go | Go/C | mean: C | Go | Go/C | p99: C | Go | Go/C | p99.9: C | Go | Go/C |",
		"| send, poll | 64 | 200 | 250 | 1.25 | 250 | 300 | 1.20 | 400 | 500 | 1.25 | 400 | 600 | 1.50 |",
		"Beyond 1.1 of the median or the mean, or 1.3 of the 99th percentile: p50 of send, poll, 64 bytes (1.25); mean of send, poll, 64 bytes (1.20).",
		"Beyond 1.05 of latency or 0.95 of bandwidth: lat send, poll, 64 bytes (1.25).",
		"| read, event | 1048576 | 50.0 (50.0 to 50.0) | 60.0 (60.0 to 60.0) | 1.20 | 0.05 | 0.06 | 100000 | 100000 | 102 | 102 |",
		"| write, event | 4096 |  | 60.0 (60.0 to 60.0) |  |  | 15.4 |  | 0.00 |  | 0.00 |",
	} {
		if !strings.Contains(out.String(), want+"\n") {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "both ways") {
		t.Errorf("a row of nothing:\n%s", out.String())
	}
}
