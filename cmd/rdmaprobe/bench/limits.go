package bench

import (
	"fmt"
	"net/netip"
)

// Limits of one test.
const (
	MaxSize  = 64 << 20 // bytes of a message
	MaxDepth = 4096     // messages under way on one queue pair
	MaxQPs   = 64

	// MaxTestMemory is what the server maps for one test, see Params.Memory.
	MaxTestMemory = 256 << 20
)

// Limits of what a server does for its clients. Anybody who reaches it may ask, and under
// several addresses: those in all keep the host alive, those of one address keep the
// server for others.
const (
	MaxTests      = 64 // at a time
	MaxPeerTests  = 8  // of one address
	MaxMemory     = 2 << 30
	MaxPeerMemory = 512 << 20
)

// entrySize is what an entry of a queue takes, with its completion; no less than those of
// soft-RoCE and soft-iWARP do.
const entrySize = 256

// Memory is how many bytes the server maps and pins for the test: two areas of a message
// for each queue pair, and its queues.
func (p *Params) Memory() int64 {
	r := p.request()
	return r.memory()
}

// memory is what newSide maps at the server.
func (r *request) memory() int64 {
	entries := r.serverDepth() + int(r.RecvDepth)
	return int64(r.QPs) * (2*int64(r.area()) + int64(entries)*entrySize)
}

// A ledger is what the tests of a server take, those included that are being set up.
type ledger struct {
	all   share
	peers map[netip.Addr]share
}

type share struct {
	tests  int
	memory int64
}

// take counts a test, unless a limit is reached. The error is for the client to read.
func (l *ledger) take(peer netip.Addr, memory int64) error {
	of := l.peers[peer]
	switch {
	case memory > MaxTestMemory:
		return fmt.Errorf("the test needs %d MiB here, allowed are %d: fewer queue pairs or smaller messages", mebibytes(memory), MaxTestMemory>>20)
	case of.tests >= MaxPeerTests:
		return fmt.Errorf("%d tests of %v run here, no more are allowed at a time", of.tests, peer)
	case of.memory+memory > MaxPeerMemory:
		return fmt.Errorf("the tests of %v would need %d MiB here, allowed are %d", peer, mebibytes(of.memory+memory), MaxPeerMemory>>20)
	case l.all.tests >= MaxTests:
		return fmt.Errorf("%d tests run here, no more are allowed at a time", l.all.tests)
	case l.all.memory+memory > MaxMemory:
		return fmt.Errorf("all tests would need %d MiB here, allowed are %d", mebibytes(l.all.memory+memory), MaxMemory>>20)
	}
	l.add(peer, share{1, memory})
	return nil
}

// give takes back what take counted.
func (l *ledger) give(peer netip.Addr, memory int64) { l.add(peer, share{-1, -memory}) }

func (l *ledger) add(peer netip.Addr, s share) {
	if l.peers == nil {
		l.peers = map[netip.Addr]share{}
	}
	of := l.peers[peer]
	of.tests, of.memory = of.tests+s.tests, of.memory+s.memory
	l.all.tests, l.all.memory = l.all.tests+s.tests, l.all.memory+s.memory
	l.peers[peer] = of
	if of == (share{}) {
		delete(l.peers, peer)
	}
}

func mebibytes(n int64) int64 { return (n + 1<<20 - 1) >> 20 }
