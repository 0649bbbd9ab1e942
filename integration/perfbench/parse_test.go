//go:build linux

package main

import (
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
	if err != nil || got != (sample{value: 130.42, message: 1000}) {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = parsePerftest(bwOut, test{kind: "bw", size: 65536, count: 200})
	if err != nil || got.value != 55.25 || got.rate != 884 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parsePerftest(bwOut, test{kind: "bw", size: 2}); err == nil {
		t.Error("no error without a result")
	}
}

func TestParseProbe(t *testing.T) {
	got, err := parseProbe(`{"results":[{"messages":10,"mib_per_second":5.5,"messages_per_second":88,"latency":{"p50_us":12.5}}]}`, test{kind: "lat", count: 10})
	if err != nil || got.value != 12.5 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := parseProbe(`{"results":[{"messages":9}]}`, test{kind: "bw", count: 10}); err == nil {
		t.Error("no error for another count")
	}
}

func TestCommandLines(t *testing.T) {
	tt := test{"read", "bw", true, 4096, 100}
	want := "ib_read_bw -F -d rxe0 -x 1 -p 7 -s 4096 -n 100 -e"
	if diff := cmp.Diff(want, strings.Join(tt.perftest("rxe0", 1, 7), " ")); diff != "" {
		t.Error(diff)
	}
	want = "rdmaprobe bench bw 10.0.0.1:7 --json --op read --mode event --size 4096 -n 100 --depth 128 --cq-mod 100 --inline 0"
	if diff := cmp.Diff(want, strings.Join(tt.probe(netip.MustParseAddrPort("10.0.0.1:7")), " ")); diff != "" {
		t.Error(diff)
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
	b := &bench{out: &out, list: []test{{"send", "lat", false, 64, 10}, {"read", "bw", true, 1 << 20, 10}},
		results: []pair{
			{[]sample{{value: 100, message: 10}, {value: 300, message: 10}, {value: 200, message: 10}}, []sample{{value: 150, message: 10}}},
			{[]sample{{value: 50, message: 10, cpu: time.Second}}, []sample{{value: 60, message: 10, cpu: time.Second}}},
		}}
	b.print()
	for _, want := range []string{"| send, poll | 64 | 200 (100 to 300) | 150 (150 to 150) | 0.75 |", "| read, event | 1048576 | 50.0 (50.0 to 50.0) | 60.0 (60.0 to 60.0) | 1.20 | 100000 | 100000 | 102.4 | 102.4 |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
