package cm

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

// TestQPAttributes: the attributes of both queue pairs are what the two sides asked
// for and agreed on, on Ethernet, where INIT is known without asking, and elsewhere.
// All numbers differ, so that none can stand in another's place.
func TestQPAttributes(t *testing.T) {
	for _, link := range []uverbs.LinkLayer{uverbs.LinkEthernet, uverbs.LinkInfiniBand} {
		t.Run(string(link), func(t *testing.T) {
			r := newRig(t)
			r.device.Ports = []uverbs.PortInfo{{Number: 1, LinkLayer: link}}
			l := r.listen(&ListenConfig{Config: &Config{
				LocalReads: 9, PeerReads: 2, RetryCount: 3, RNRRetryCount: 2, SendDepth: 5, RecvDepth: 6, MaxSGE: 7, MaxInline: 8,
				CloseTimeout: quick.CloseTimeout, ACKTimeout: 100 * time.Millisecond,
			}})
			client, server := r.pair(l, &Dialer{TOS: 0x68, Config: &Config{
				LocalReads: 8, PeerReads: 5, RetryCount: 4, RNRRetryCount: 1, SendDepth: 10, RecvDepth: 11, MaxSGE: 12, MaxInline: 13,
				CloseTimeout: quick.CloseTimeout,
			}})
			got := func(c *Conn) abi.IBUverbsQueryQPResp {
				a := r.verbs.QPAttr(c.QP().Number())
				a.MaxInlineData = 0 // the driver's; the request is in TestQPRoom
				return a
			}
			access := uint32(uverbs.AccessRemoteWrite | uverbs.AccessRemoteRead | uverbs.AccessRemoteAtomic)
			path := func(c *Conn, tos uint8) abi.IBUverbsQPDest {
				peer := netip.MustParseAddrPort(c.RemoteAddr().String()).Addr()
				return abi.IBUverbsQPDest{Dgid: peer.As16(), HopLimit: 64, TrafficClass: tos, IsGlobal: 1, PortNum: 1}
			}
			want := abi.IBUverbsQueryQPResp{
				Dest: path(client, 0x68), DestQPNum: server.QP().Number(), QPAccessFlags: access,
				QPState: uint8(abi.IB_QPS_RTS), CurQPState: uint8(abi.IB_QPS_RTS), PathMTU: uint8(abi.IB_MTU_1024),
				RQPSN: 0x123, SQPSN: 0x456, PortNum: 1, MinRnrTimer: minRNRTimer,
				MaxRdAtomic: 2, MaxDestRdAtomic: 5, // own 8 and the peer's 2; own 5 and the peer's 9
				Timeout: 18, RetryCnt: 4, RnrRetry: 2, // the requests's, and the peer's
				MaxSendWR: uint32(10 + client.spare()), MaxRecvWR: 11, MaxSendSGE: 12, MaxRecvSGE: 1,
			}
			if diff := cmp.Diff(want, got(client)); diff != "" {
				t.Errorf("client (-want +got):\n%s", diff)
			}
			want.Dest, want.DestQPNum = path(server, 0), client.QP().Number()
			want.MaxRdAtomic, want.MaxDestRdAtomic = 5, 2
			want.Timeout = 15 // 134 ms is the first that is no less than 100
			want.RetryCnt, want.RnrRetry = 4, 1
			want.MaxSendWR, want.MaxRecvWR, want.MaxSendSGE = uint32(5+server.spare()), 6, 7
			if diff := cmp.Diff(want, got(server)); diff != "" {
				t.Errorf("server (-want +got):\n%s", diff)
			}
			ctx := testContext(t)
			far, near := alloc(t, server, 8, RemoteWrite|RemoteRead|RemoteAtomic), alloc(t, client, 8, 0)
			for name, err := range map[string]error{
				"write":  client.Write(ctx, far.Remote(), near.All()),
				"read":   client.Read(ctx, far.Remote(), near.All()),
				"atomic": client.FetchAdd(ctx, far.Remote(), near.All(), 1),
			} {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
}
