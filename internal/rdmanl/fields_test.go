package rdmanl

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
)

func u8At(typ abi.RDMANldevAttr, v uint8) []byte   { return encode(uint16(typ), v) }
func u32At(typ abi.RDMANldevAttr, v uint32) []byte { return encode(uint16(typ), hostU32(v)...) }
func u64At(typ abi.RDMANldevAttr, v uint64) []byte {
	return encode(uint16(typ), binary.NativeEndian.AppendUint64(nil, v)...)
}
func strAt(typ abi.RDMANldevAttr, s string) []byte {
	return encode(uint16(typ), append([]byte(s), 0)...)
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// TestEveryField: each attribute goes to its field and to no other. No value comes twice.
// The captures lack what InfiniBand alone has.
func TestEveryField(t *testing.T) {
	ctx := t.Context()
	device := join(u32At(abi.RDMA_NLDEV_ATTR_DEV_INDEX, 3), strAt(abi.RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0"), u32At(abi.RDMA_NLDEV_ATTR_PORT_INDEX, 2),
		u64At(abi.RDMA_NLDEV_ATTR_CAP_FLAGS, 1<<40), strAt(abi.RDMA_NLDEV_ATTR_FW_VERSION, "16.35"), u64At(abi.RDMA_NLDEV_ATTR_NODE_GUID, 1<<41),
		u64At(abi.RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, 1<<42), u8At(abi.RDMA_NLDEV_ATTR_DEV_NODE_TYPE, 7), strAt(abi.RDMA_NLDEV_ATTR_DEV_PROTOCOL, "ib"),
		strAt(abi.RDMA_NLDEV_ATTR_PARENT_NAME, "mlx5_9"))
	compare(t, [][]byte{device}, Device{Index: 3, Name: "mlx5_0", Ports: 2, CapFlags: 1 << 40, FirmwareVersion: "16.35", NodeGUID: 1 << 41,
		SysImageGUID: 1 << 42, NodeType: 7, Protocol: "ib", Parent: "mlx5_9"},
		func(c *Client) (Device, error) { return c.Device(ctx, 3) })

	port := join(u32At(abi.RDMA_NLDEV_ATTR_PORT_INDEX, 2), u64At(abi.RDMA_NLDEV_ATTR_CAP_FLAGS, 1<<40), u64At(abi.RDMA_NLDEV_ATTR_SUBNET_PREFIX, 1<<41),
		u32At(abi.RDMA_NLDEV_ATTR_LID, 11), u32At(abi.RDMA_NLDEV_ATTR_SM_LID, 12), u8At(abi.RDMA_NLDEV_ATTR_LMC, 3), u8At(abi.RDMA_NLDEV_ATTR_PORT_STATE, 4),
		u8At(abi.RDMA_NLDEV_ATTR_PORT_PHYS_STATE, 5), u32At(abi.RDMA_NLDEV_ATTR_NDEV_INDEX, 13), strAt(abi.RDMA_NLDEV_ATTR_NDEV_NAME, "ib0"))
	compare(t, [][]byte{port}, Port{Number: 2, CapFlags: 1 << 40, SubnetPrefix: 1 << 41, LID: 11, SMLID: 12, LMC: 3, State: 4, PhysState: 5, NetdevIndex: 13, Netdev: "ib0"},
		func(c *Client) (Port, error) { return c.Port(ctx, 3, 2) })

	entry := func(table, entry abi.RDMANldevAttr, fields ...[]byte) [][]byte {
		return [][]byte{encode(uint16(table), encode(uint16(entry), join(fields...)...)...)}
	}
	compare(t, entry(abi.RDMA_NLDEV_ATTR_RES_QP, abi.RDMA_NLDEV_ATTR_RES_QP_ENTRY, u32At(abi.RDMA_NLDEV_ATTR_RES_LQPN, 17), u32At(abi.RDMA_NLDEV_ATTR_RES_RQPN, 18),
		u32At(abi.RDMA_NLDEV_ATTR_PORT_INDEX, 2), u8At(abi.RDMA_NLDEV_ATTR_RES_TYPE, 4), u8At(abi.RDMA_NLDEV_ATTR_RES_STATE, 3), u32At(abi.RDMA_NLDEV_ATTR_RES_PID, 99)),
		[]QP{{Owner: Owner{PID: 99}, Number: 17, RemoteNumber: 18, Port: 2, Type: 4, State: 3}},
		func(c *Client) ([]QP, error) { return c.QPs(ctx, 3) })
	compare(t, entry(abi.RDMA_NLDEV_ATTR_RES_CM_ID, abi.RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY, u32At(abi.RDMA_NLDEV_ATTR_RES_CM_IDN, 5), u32At(abi.RDMA_NLDEV_ATTR_RES_PS, 0x106),
		u8At(abi.RDMA_NLDEV_ATTR_RES_STATE, 7), u32At(abi.RDMA_NLDEV_ATTR_RES_LQPN, 17), strAt(abi.RDMA_NLDEV_ATTR_RES_KERN_NAME, "nvme"),
		encode(uint16(abi.RDMA_NLDEV_ATTR_RES_SRC_ADDR), ipv4(1, 10, 0, 0, 1)...), encode(uint16(abi.RDMA_NLDEV_ATTR_RES_DST_ADDR), ipv4(2, 10, 0, 0, 2)...)),
		[]CMID{{Owner: Owner{KernelName: "nvme"}, ID: 5, PortSpace: 0x106, State: 7, QPNumber: 17,
			Source: netip.MustParseAddrPort("10.0.0.1:1"), Dst: netip.MustParseAddrPort("10.0.0.2:2")}},
		func(c *Client) ([]CMID, error) { return c.CMIDs(ctx, 3) })
	compare(t, entry(abi.RDMA_NLDEV_ATTR_RES_CTX, abi.RDMA_NLDEV_ATTR_RES_CTX_ENTRY, u32At(abi.RDMA_NLDEV_ATTR_RES_CTXN, 6), u32At(abi.RDMA_NLDEV_ATTR_RES_PID, 99)),
		[]Context{{Owner: Owner{PID: 99}, ID: 6}}, func(c *Client) ([]Context, error) { return c.Contexts(ctx, 3) })
}

// ipv4 is struct sockaddr_in.
func ipv4(port uint8, ip ...byte) []byte {
	b := binary.NativeEndian.AppendUint16(nil, afInet)
	return append(append(b, 0, port), append(ip, make([]byte, 8)...)...)
}

// TestSystemFlags: each property has its own attribute.
func TestSystemFlags(t *testing.T) {
	for typ, want := range map[abi.RDMANldevAttr]System{
		abi.RDMA_NLDEV_SYS_ATTR_NETNS_MODE:           {Shared: true, HasNetnsMode: true},
		abi.RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK:         {CopyOnFork: true},
		abi.RDMA_NLDEV_SYS_ATTR_PRIVILEGED_QKEY_MODE: {PrivilegedQKey: true},
		abi.RDMA_NLDEV_SYS_ATTR_MONITOR_MODE:         {Monitor: true},
	} {
		got, err := answering(u8At(typ, 1)).System(t.Context())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("attribute %d: %v (-want +got):\n%s", typ, err, diff)
		}
	}
}

// TestObjectKinds: each kind has its command, its table and its own number, beside which
// others stand.
func TestObjectKinds(t *testing.T) {
	ids := join(u32At(abi.RDMA_NLDEV_ATTR_RES_PDN, 11), u32At(abi.RDMA_NLDEV_ATTR_RES_CQN, 12), u32At(abi.RDMA_NLDEV_ATTR_RES_MRN, 13), u32At(abi.RDMA_NLDEV_ATTR_RES_SRQN, 14))
	for kind, want := range map[Kind]struct {
		typ          uint16
		table, entry abi.RDMANldevAttr
		id           uint32
	}{
		KindPD:  {0x140e, abi.RDMA_NLDEV_ATTR_RES_PD, abi.RDMA_NLDEV_ATTR_RES_PD_ENTRY, 11},
		KindCQ:  {0x140c, abi.RDMA_NLDEV_ATTR_RES_CQ, abi.RDMA_NLDEV_ATTR_RES_CQ_ENTRY, 12},
		KindMR:  {0x140d, abi.RDMA_NLDEV_ATTR_RES_MR, abi.RDMA_NLDEV_ATTR_RES_MR_ENTRY, 13},
		KindSRQ: {0x1417, abi.RDMA_NLDEV_ATTR_RES_SRQ, abi.RDMA_NLDEV_ATTR_RES_SRQ_ENTRY, 14},
	} {
		f := &fake{answers: []answer{{payloads: [][]byte{encode(uint16(want.table), encode(uint16(want.entry), ids...)...)}}}}
		got, err := (&Client{f}).Objects(t.Context(), 3, kind)
		if err != nil || len(got) != 1 || got[0].ID != want.id || f.typ[0] != want.typ {
			t.Errorf("%s: %+v, %v, request of type %#x", kind, got, err, f.typ)
		}
	}
}
