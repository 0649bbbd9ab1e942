//go:build linux

package integration

import (
	"bytes"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

const udQKey = 0x11223344

// udPair is two datagram queue pairs of one device, ready to send.
func udPair(t *testing.T, style uverbs.CallStyle) (a, b *verbsSide) {
	t.Helper()
	a, b = rxeUnconnected(t, rxeConfig{typ: abi.IB_UVERBS_QPT_UD, cap: verbsCap, style: style})
	udReady(t, a)
	udReady(t, b)
	return a, b
}

func udReady(t *testing.T, s *verbsSide) {
	t.Helper()
	err := errors.Join(s.qp.ToInitUD(1, udQKey), s.qp.ToRTR(uverbs.RTRConfig{}), s.qp.ToRTS(uverbs.RTSConfig{PSN: s.psn}))
	if err != nil {
		t.Fatal(err)
	}
}

func udHandle(t *testing.T, s *verbsSide, attr uverbs.AHAttr) *uverbs.AH {
	t.Helper()
	ah, err := s.qp.PD().CreateAH(attr)
	if err != nil {
		t.Fatal(err)
	}
	verbsClose(t, ah)
	return ah
}

// udMessage sends data to a queue pair and returns the receiver's completion.
// It comes to the start of the receiver's memory.
func udMessage(t *testing.T, from, to *verbsSide, ah *uverbs.AH, data []byte) uverbs.WC {
	t.Helper()
	to.fill(99)
	// The header ends within the first entry, the data within the second.
	to.recv(uverbs.RecvWR{ID: 1, SGEs: []uverbs.SGE{to.mr.SGE(0, 64), to.mr.SGE(64, 4096)}})
	copy(from.mr.Bytes()[8192:], data)
	from.send(uverbs.SendWR{
		ID: 2, Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Flags: uverbs.SendSignaled, Imm: 0xabcd1234,
		SGEs: []uverbs.SGE{from.mr.SGE(8192, len(data))}, AH: ah, RemoteQPN: to.qp.Number(), RemoteQKey: udQKey,
	})
	from.want(2, abi.IB_WC_SEND)
	wc := to.want(1, abi.IB_WC_RECV)
	if int(wc.ByteLen) != uverbs.GRHSize+len(data) || wc.SrcQPN != from.qp.Number() || wc.Imm != 0xabcd1234 ||
		wc.Flags&(abi.IB_WC_GRH|abi.IB_WC_WITH_IMM) != abi.IB_WC_GRH|abi.IB_WC_WITH_IMM {
		t.Fatalf("receive: %+v", wc)
	}
	verbsEqual(t, "datagram", to.mr.Bytes()[uverbs.GRHSize:wc.ByteLen], data)
	return wc
}

// TestRxeUD sends a datagram to each address of the device and answers it
// along the path that the datagram came.
func TestRxeUD(t *testing.T) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			a, b := udPair(t, style)
			gids, err := a.qp.Context().QueryGIDs(1)
			if err != nil {
				t.Fatal(err)
			}
			for _, g := range gids {
				t.Run(g.GID.Addr().String(), func(t *testing.T) {
					waitForAddress(t, g)
					a.t, b.t = t, t
					there := udHandle(t, a, uverbs.AHAttr{DGID: g.GID, SGIDIndex: uint8(g.Index), TrafficClass: 0x20})
					wc := udMessage(t, a, b, there, bytes.Repeat([]byte("ping"), 256)) // the MTU exactly
					grh, err := uverbs.ParseGRH(b.mr.Bytes())
					if err != nil || grh.Src != g.GID || grh.Dst != g.GID || grh.HopLimit == 0 || grh.TrafficClass != 0x20 {
						t.Errorf("header %+v, %v", grh, err)
					}
					back, err := b.qp.PD().CreateAHFromWC(1, &wc, b.mr.Bytes())
					if err != nil {
						t.Fatal(err)
					}
					verbsClose(t, back)
					if attr := back.Attr(); attr.DGID != g.GID || int(attr.SGIDIndex) != g.Index {
						t.Errorf("path back: %+v", attr)
					}
					udMessage(t, b, a, back, []byte("pong"))
					udMessage(t, b, a, back, nil)
				})
			}
		})
	}
}

// waitForAddress waits until an IPv6 address has passed the search for
// duplicates; the kernel sends nothing from it before.
func waitForAddress(t *testing.T, g uverbs.GIDEntry) {
	t.Helper()
	addr := &net.UDPAddr{IP: g.GID.Addr().AsSlice()}
	if g.GID.IsLinkLocal() {
		addr.Zone = g.Netdev
	}
	for deadline := time.Now().Add(verbsTimeout); ; time.Sleep(50 * time.Millisecond) {
		c, err := net.ListenUDP("udp", addr)
		if err == nil {
			_ = c.Close()
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%v does not become usable: %v", addr, err)
		}
	}
}

// TestRxeUDMany has many datagrams under way, to several queue pairs through
// one address handle.
func TestRxeUDMany(t *testing.T) { eachCallStyle(t, rxeUDMany) }

func rxeUDMany(t *testing.T, style uverbs.CallStyle) {
	a, b := udPair(t, style)
	gid := verbsGID(t, a.qp.Context())
	ah := udHandle(t, a, uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index)})
	for round := range 50 {
		for i, to := range []*verbsSide{b, a} {
			to.recv(uverbs.RecvWR{ID: uint64(round), SGEs: []uverbs.SGE{to.mr.SGE(0, 128)}})
			a.send(uverbs.SendWR{
				ID: 7, Opcode: abi.IB_UVERBS_WR_SEND, Inline: []byte{byte(i), byte(round)},
				AH: ah, RemoteQPN: to.qp.Number(), RemoteQKey: udQKey,
			})
			to.want(uint64(round), abi.IB_WC_RECV)
			verbsEqual(t, "datagram", to.mr.Bytes()[uverbs.GRHSize:uverbs.GRHSize+2], []byte{byte(i), byte(round)})
		}
	}
}

// TestRxeUDDropped: what nobody takes is lost and the sender does not learn it;
// the queue pairs work on.
func TestRxeUDDropped(t *testing.T) { eachCallStyle(t, rxeUDDropped) }

func rxeUDDropped(t *testing.T, style uverbs.CallStyle) {
	a, b := udPair(t, style)
	gid := verbsGID(t, a.qp.Context())
	ah := udHandle(t, a, uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index)})
	lost := uverbs.SendWR{ID: 3, Opcode: abi.IB_UVERBS_WR_SEND, Flags: uverbs.SendSignaled, AH: ah, RemoteQPN: b.qp.Number(), RemoteQKey: udQKey}
	wrongKey, nobody, long := lost, lost, lost
	wrongKey.RemoteQKey++
	nobody.RemoteQPN = 0xffff0
	long.SGEs = []uverbs.SGE{a.mr.SGE(0, 1025)} // more than the MTU
	b.recv(uverbs.RecvWR{ID: 9, SGEs: []uverbs.SGE{b.mr.SGE(0, 8192)}})
	for _, wr := range []uverbs.SendWR{wrongKey, nobody, long} {
		a.send(wr)
		a.want(3, abi.IB_WC_SEND)
	}
	lost.Inline = []byte("not lost")
	a.send(lost)
	a.want(3, abi.IB_WC_SEND)
	if wc := b.want(9, abi.IB_WC_RECV); wc.ByteLen != uverbs.GRHSize+8 {
		t.Errorf("%+v", wc)
	}
}

func TestRxeAHRefused(t *testing.T) {
	for _, style := range verbsStyles {
		t.Run(style.String(), func(t *testing.T) {
			a, _ := udPair(t, style)
			gid := verbsGID(t, a.qp.Context())
			for _, tc := range []struct {
				name string
				attr uverbs.AHAttr
				want syscall.Errno
			}{
				{"no GID", uverbs.AHAttr{}, syscall.EINVAL},
				{"empty slot", uverbs.AHAttr{DGID: gid.GID, SGIDIndex: 200}, syscall.ENODATA},
				{"no port", uverbs.AHAttr{DGID: gid.GID, SGIDIndex: uint8(gid.Index), Port: 9}, syscall.EINVAL},
			} {
				if ah, err := a.qp.PD().CreateAH(tc.attr); !errors.Is(err, tc.want) {
					t.Errorf("%s: %v, %v", tc.name, ah, err)
				}
			}
		})
	}
}
