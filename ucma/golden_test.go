package ucma

import (
	"bytes"
	"errors"
	"net/netip"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/purerdma/rdma/abi"
)

var (
	addr4  = netip.MustParseAddrPort("10.0.0.1:7174")
	addr6  = netip.MustParseAddrPort("[fe80::2%5]:7175")
	in4Raw = in4(7174, 10, 0, 0, 1)
	in6Raw = in6(7175, 5, [16]byte{0: 0xfe, 1: 0x80, 15: 2})
)

func sockaddr(tb testing.TB, ap netip.AddrPort) Sockaddr {
	tb.Helper()
	s, err := SockaddrFrom(ap)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// connParam is struct rdma_ucm_conn_param of testParam at an offset.
func connParam(at int, valid uint8) []field {
	return []field{
		{at, uint32(0x123456)}, {at + 4, uint32(0x01234567)}, {at + 8, []byte("hello")}, {at + 264, uint8(5)},
		{at + 265, uint8(1)}, {at + 266, uint8(3)}, {at + 267, uint8(4)}, {at + 268, uint8(1)},
		{at + 269, uint8(7)}, {at + 270, uint8(6)}, {at + 271, valid},
	}
}

var testParam = ConnParam{
	PrivateData: []byte("hello"), ResponderResources: 3, InitiatorDepth: 4, FlowControl: true,
	RetryCount: 7, RNRRetryCount: 6, SRQ: true, QPNum: 0x123456, QKey: 0x01234567,
}

// golden is one command: its bytes by offsets written by hand, and its answer.
type golden struct {
	name   string
	cmd    uint32
	req    []byte // at the offset respAt there is the answer's address
	out    uint16
	respAt int
	answer []byte
	call   func(t *testing.T, c *Channel) (any, error)
	want   any
}

func noAnswer(call func(t *testing.T, c *Channel) error) func(*testing.T, *Channel) (any, error) {
	return func(t *testing.T, c *Channel) (any, error) { return nil, call(t, c) }
}

func TestCommandBytes(t *testing.T) {
	for _, g := range append(append(idCommands(), connectCommands()...), queryCommands()...) {
		t.Run(g.name, func(t *testing.T) {
			r := &recorder{respAt: g.respAt, answer: g.answer}
			got, err := g.call(t, openOn(t, r))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(g.want, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
			if len(r.frames) != 1 {
				t.Fatalf("%d writes", len(r.frames))
			}
			checkFrame(t, g, r.frames[0])
		})
	}
}

func checkFrame(t *testing.T, g golden, frame []byte) {
	t.Helper()
	hdr := lay(8, field{0, g.cmd}, field{4, uint16(len(g.req))}, field{6, g.out})
	if !bytes.Equal(frame[:8], hdr) {
		t.Errorf("header % x, want % x", frame[:8], hdr)
	}
	payload := frame[8:]
	if g.respAt >= 0 {
		slot := payload[g.respAt : g.respAt+8]
		if addr := host.Uint64(slot); addr == 0 || addr%8 != 0 {
			t.Errorf("answer at address %#x", addr)
		}
		clear(slot)
	}
	if diff := cmp.Diff(g.req, payload); diff != "" {
		t.Errorf("payload (-want +got):\n%s", diff)
	}
}

func idCommands() []golden {
	u32 := func(v uint32) []byte { return lay(4, field{0, v}) }
	return []golden{
		{"CREATE_ID", 0, lay(24, field{0, uint64(1 << 40)}, field{16, uint16(0x106)}, field{18, uint8(2)}), 4, 8, u32(9),
			func(_ *testing.T, c *Channel) (any, error) { return wrap(c.CreateID(1<<40, abi.RDMA_PS_TCP, 2)) }, uint32(9)},
		{"DESTROY_ID", 1, lay(16, field{8, uint32(9)}), 4, 0, u32(3),
			func(_ *testing.T, c *Channel) (any, error) { return wrap(c.DestroyID(9)) }, uint32(3)},
		{"BIND_IP v4", 2, lay(40, field{8, in4Raw}, field{36, uint32(9)}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error { return c.BindIP(9, sockaddr(t, addr4)) }), nil},
		{"BIND_IP v6", 2, lay(40, field{8, in6Raw}, field{36, uint32(9)}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error { return c.BindIP(9, sockaddr(t, addr6)) }), nil},
		{"RESOLVE_IP", 3, lay(64, field{0, in4Raw}, field{28, in6Raw}, field{56, uint32(9)}, field{60, uint32(2000)}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error {
				return c.ResolveIP(9, sockaddr(t, addr4), sockaddr(t, addr6), 2000)
			}), nil},
		{"RESOLVE_ROUTE", 4, lay(8, field{0, uint32(9)}, field{4, uint32(2000)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.ResolveRoute(9, 2000) }), nil},
		{"LISTEN", 7, lay(8, field{0, uint32(9)}, field{4, uint32(10)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.Listen(9, 10) }), nil},
		{"SET_OPTION TOS", 14, lay(24, field{8, uint32(9)}, field{20, uint32(1)}), 0, 0, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.SetTOS(9, 0x68) }), nil},
		{"JOIN_IP_MCAST", 16, lay(48, field{8, uint64(77)}, field{16, in4Raw}, field{44, uint32(9)}), 4, 0, u32(5),
			func(t *testing.T, c *Channel) (any, error) { return wrap(c.JoinIPMulticast(9, 77, sockaddr(t, addr4))) }, uint32(5)},
		{"LEAVE_MCAST", 17, lay(16, field{8, uint32(5)}), 4, 0, u32(1),
			func(_ *testing.T, c *Channel) (any, error) { return wrap(c.LeaveMulticast(5)) }, uint32(1)},
		{"MIGRATE_ID", 18, lay(16, field{8, uint32(9)}, field{12, uint32(77)}), 4, 0, u32(2),
			func(t *testing.T, c *Channel) (any, error) {
				return wrap(c.MigrateID(openOn(t, &recorder{respAt: -1}), 9))
			}, uint32(2)},
		{"BIND v4", 20, lay(136, field{0, uint32(9)}, field{4, uint16(16)}, field{8, in4Raw}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error { return c.Bind(9, sockaddr(t, addr4)) }), nil},
		{"BIND v6", 20, lay(136, field{0, uint32(9)}, field{4, uint16(28)}, field{8, in6Raw}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error { return c.Bind(9, sockaddr(t, addr6)) }), nil},
		{"BIND IB", 20, lay(136, field{0, uint32(9)}, field{4, uint16(48)}, field{8, ibRaw()}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.Bind(9, SockaddrFromIB(testIB())) }), nil},
		{"RESOLVE_ADDR", 21, lay(272, field{0, uint32(9)}, field{4, uint32(500)}, field{8, uint16(16)}, field{10, uint16(28)},
			field{16, in4Raw}, field{144, in6Raw}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error {
				return c.ResolveAddr(9, sockaddr(t, addr4), sockaddr(t, addr6), 500)
			}), nil},
		{"RESOLVE_ADDR without source", 21, lay(272, field{0, uint32(9)}, field{10, uint16(16)}, field{144, in4Raw}), 0, -1, nil,
			noAnswer(func(t *testing.T, c *Channel) error { return c.ResolveAddr(9, Sockaddr{}, sockaddr(t, addr4), 0) }), nil},
		{"JOIN_MCAST", 22, lay(152, field{8, uint64(77)}, field{16, uint32(9)}, field{20, uint16(16)}, field{22, uint16(1)},
			field{24, in4Raw}), 4, 0, u32(5),
			func(t *testing.T, c *Channel) (any, error) {
				return wrap(c.JoinMulticast(9, 77, sockaddr(t, addr4), abi.RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER))
			}, uint32(5)},
		{"RESOLVE_IB_SERVICE", 23, lay(88, field{0, uint32(9)}, field{8, uint64(0x1060000)}, field{80, uint32(1)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error {
				return c.ResolveIBService(9, abi.RDMAUCMIBService{ServiceID: 0x1060000, Flags: abi.RDMA_USER_CM_IB_SERVICE_FLAG_ID})
			}), nil},
		{"WRITE_CM_EVENT", 24, lay(320, field{0, uint32(9)}, field{8, uint32(18)}, field{12, ^uint32(0)}, field{16, uint64(1 << 50)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.WriteEvent(9, abi.RDMA_CM_EVENT_USER, -1, 1<<50) }), nil},
	}
}

func connectCommands() []golden {
	attr := lay(144, field{0, uint32(0x10)}, field{4, uint32(2)}, field{32, uint32(0x123456)})
	return []golden{
		{"CONNECT", 6, lay(288, append(connParam(0, 1), field{272, uint32(9)}, field{280, uint32(0x15b3)}, field{284, uint32(2)})...), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error {
				return c.Connect(9, &testParam, ECE{VendorID: 0x15b3, AttrMod: 2})
			}), nil},
		{"ACCEPT", 8, lay(296, append(connParam(8, 1), field{0, uint64(1 << 40)}, field{280, uint32(9)}, field{288, uint32(0x15b3)}, field{292, uint32(2)})...),
			0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error {
				return c.Accept(9, 1<<40, &testParam, ECE{VendorID: 0x15b3, AttrMod: 2})
			}), nil},
		{"ACCEPT to establish", 8, lay(296, field{280, uint32(9)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.Establish(9) }), nil},
		{"REJECT", 9, lay(264, field{0, uint32(9)}, field{4, uint8(4)}, field{5, uint8(28)}, field{8, []byte("busy")}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.Reject(9, []byte("busy"), 28) }), nil},
		{"DISCONNECT", 10, lay(4, field{0, uint32(9)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.Disconnect(9) }), nil},
		{"INIT_QP_ATTR", 11, lay(16, field{8, uint32(9)}, field{12, uint32(2)}), 144, 0, attr,
			func(_ *testing.T, c *Channel) (any, error) {
				a, err := c.InitQPAttr(9, uint32(abi.IB_QPS_RTR))
				return []uint32{a.QPAttrMask, a.QPState, a.DestQPNum}, err
			}, []uint32{0x10, 2, 0x123456}},
		{"NOTIFY", 15, lay(8, field{0, uint32(9)}, field{4, uint32(4)}), 0, -1, nil,
			noAnswer(func(_ *testing.T, c *Channel) error { return c.Notify(9, 4) }), nil},
		{"GET_EVENT", 12, lay(8), 336, 0, eventRaw(),
			func(t *testing.T, c *Channel) (any, error) {
				e, err := c.GetEvent(t.Context())
				return eventSummary(&e), err
			}, wantEvent},
		{"GET_EVENT without waiting", 12, lay(8), 336, 0, eventRaw(),
			func(_ *testing.T, c *Channel) (any, error) {
				e, err := c.TryGetEvent()
				return eventSummary(&e), err
			}, wantEvent},
	}
}

func queryCommands() []golden {
	route := lay(208, field{0, uint64(0x1122)}, field{8, fill(128, 0xaa)}, field{136, in4Raw}, field{164, in6Raw}, field{192, uint32(2)},
		field{196, uint8(1)}, field{200, uint32(3)})
	addr := lay(280, field{0, uint64(0x1122)}, field{8, uint8(1)}, field{10, uint16(0xffff)}, field{12, uint16(16)}, field{14, uint16(28)},
		field{16, in4Raw}, field{144, in6Raw}, field{272, uint32(3)})
	path := lay(8+2*72, field{0, uint32(2)}, field{8, uint32(0x2b)}, field{80, uint32(0x2c)})
	service := lay(8+176, field{0, uint32(1)}, field{8, uint64(0x1060000)})
	query := func(option uint32) []byte { return lay(16, field{8, uint32(9)}, field{12, option}) }
	ends := []string{"10.0.0.1:7174", "[fe80::2%5]:7175"}
	return []golden{
		{"QUERY_ROUTE", 5, query(0), 208, 0, route,
			func(_ *testing.T, c *Channel) (any, error) {
				r, err := c.QueryRoute(9)
				if err != nil {
					return nil, err
				}
				return []any{plain(r.Src), plain(r.Dst), r.NodeGUID, r.Port, r.DeviceIndex, r.NumPaths, r.Paths[1].Dgid[0]}, err
			}, []any{ends[0], ends[1], uint64(0x1122), uint8(1), uint32(3), uint32(2), uint8(0xaa)}},
		{"QUERY ADDR", 19, query(0), 280, 0, addr,
			func(_ *testing.T, c *Channel) (any, error) {
				r, err := c.QueryAddr(9)
				return []any{plain(r.Src), plain(r.Dst), r.NodeGUID, r.Port, r.DeviceIndex, r.PKey}, err
			}, []any{ends[0], ends[1], uint64(0x1122), uint8(1), uint32(3), uint16(0xffff)}},
		{"QUERY PATH", 19, query(1), 8 + 7*72, 0, path,
			func(_ *testing.T, c *Channel) (any, error) {
				p, err := c.QueryPath(9)
				return []uint32{uint32(len(p)), p[0].Flags, p[1].Flags}, err
			}, []uint32{2, 0x2b, 0x2c}},
		{"QUERY GID", 19, query(2), 280, 0, lay(280, field{16, ibRaw()}),
			func(_ *testing.T, c *Channel) (any, error) {
				r, err := c.QueryGID(9)
				return r.Src.String(), err
			}, "[fd00::1]#0x106"},
		{"QUERY IB_SERVICE", 19, query(3), 8 + 8*176, 0, service,
			func(_ *testing.T, c *Channel) (any, error) {
				s, err := c.QueryIBService(9)
				return []uint64{uint64(len(s)), s[0].ID}, err
			}, []uint64{1, 0x1060000}},
	}
}

// plain is the address with its zone as a number: this machine may have an
// interface of that index.
func plain(s Sockaddr) string {
	ap, _ := s.AddrPort()
	if ap.Addr().Zone() != "" {
		ap = netip.AddrPortFrom(ap.Addr().WithZone("5"), ap.Port())
	}
	return ap.String()
}

func wrap(v uint32, err error) (any, error) { return v, err }

func testIB() abi.SockaddrIB {
	ib := abi.SockaddrIB{Addr: [16]byte{0: 0xfd, 15: 1}}
	ib.SID = host.Uint64([]byte{0, 0, 0, 0, 0, 0, 1, 6})
	return ib
}

// ibRaw is struct sockaddr_ib of testIB.
func ibRaw() []byte {
	return lay(48, field{0, uint16(27)}, field{8, []byte{0: 0xfd, 15: 1}}, field{24, []byte{0, 0, 0, 0, 0, 0, 1, 6}})
}

// TestGetOption: the layout is unknown, as no kernel has the command.
func TestGetOption(t *testing.T) {
	r := &recorder{respAt: -1, err: syscall.ENOSYS}
	if err := openOn(t, r).GetOption(9); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v", err)
	}
	if cmd := host.Uint32(r.frames[0]); cmd != 13 {
		t.Errorf("command %d", cmd)
	}
	r = &recorder{respAt: -1}
	if err := openOn(t, r).GetOption(9); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("a kernel that knows it: %v", err)
	}
}

// TestAllCommandsAreCovered: one golden case at least for each of the 25
// commands, except GET_OPTION.
func TestAllCommandsAreCovered(t *testing.T) {
	seen := map[uint32]bool{abi.RDMA_USER_CM_CMD_GET_OPTION: true}
	for _, g := range append(append(idCommands(), connectCommands()...), queryCommands()...) {
		seen[g.cmd] = true
	}
	for cmd := range uint32(25) {
		if !seen[cmd] {
			t.Errorf("no case for %s", CommandName(cmd))
		}
		if CommandName(cmd) == "" {
			t.Errorf("command %d has no name", cmd)
		}
	}
	if got := CommandName(99); got != "command 99" {
		t.Errorf("unknown command: %q", got)
	}
}
