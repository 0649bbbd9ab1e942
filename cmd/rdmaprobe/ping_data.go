package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
)

// sizePings is how many pings each size of --data has, unless -c says.
const sizePings = 3

type sizeDoc struct {
	Size     int    `json:"size" doc:"bytes of each ping"`
	Sent     uint64 `json:"sent" doc:"pings sent"`
	Verified uint64 `json:"verified" doc:"pings that came back with the right data"`
	RTT      rttDoc `json:"rtt" doc:"round trip times"`
}

// dataSizes are the sizes around which something may change on the way: the
// packet MTUs there are, the network devices' MTUs with RoCE's headers taken
// off, and multiples that take many packets.
func dataSizes(netdevMTUs ...int) []int {
	sizes := []int{rping.MinSize, rping.DefaultSize, rping.MaxSize}
	around := func(n int) { sizes = append(sizes, n-1, n, n+1) }
	for mtu := 256; mtu <= 4096; mtu *= 2 {
		around(mtu)
	}
	around(2 * 4096)
	around(8 * 4096)
	for _, mtu := range netdevMTUs {
		// IP, UDP, BTH, RETH and the checksum: a packet of an RDMA write
		// that is full.
		if n := mtu - 20 - 8 - 12 - 16 - 4; n > rping.MinSize {
			around(n)
		}
	}
	sizes = slices.DeleteFunc(sizes, func(n int) bool { return n < rping.MinSize || n > rping.MaxSize })
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

// sweep pings with each size, until one fails: then the connection is of no
// more use.
func (p *pinger) sweep(ctx context.Context, conn link) error {
	start := time.Now()
	defer func() { p.doc.TimeMS = milliseconds(time.Since(start)) }()
	sizes := dataSizes(p.you.NetdevMTU, p.peer.NetdevMTU)
	for i, n := range sizes {
		err := p.sweepSize(ctx, conn, n)
		if err == nil && ctx.Err() != nil {
			err = &failure{step: "ping", object: p.target, err: errInterrupted}
		}
		if err != nil {
			p.failed = n
			last := "no size before it worked"
			if i > 0 {
				p.passed = sizes[i-1]
				last = fmt.Sprintf("up to %d bytes worked", sizes[i-1])
			}
			p.printf("%6d bytes: failed; %s\n", n, last)
			return err
		}
	}
	p.printf("all %d sizes came back right\n", len(sizes))
	return nil
}

func (p *pinger) sweepSize(ctx context.Context, conn link, n int) error {
	one := *p // with statistics of its own
	one.size, one.quiet, one.verbose, one.interval, one.stats = n, true, false, 0, stats{}
	one.first = p.stats.sent
	if one.count == 0 {
		one.count = sizePings
	}
	err := one.pings(ctx, conn)
	p.doc.Sizes = append(p.doc.Sizes, sizeDoc{Size: n, Sent: one.stats.sent, Verified: one.stats.verified, RTT: one.stats.rtt()})
	p.stats.join(&one.stats)
	if err == nil && !p.quiet {
		p.printf("%6d bytes: %d verified, rtt min/avg/max/mdev = %s\n", n, one.stats.verified, one.stats.rtt())
	}
	return err
}
