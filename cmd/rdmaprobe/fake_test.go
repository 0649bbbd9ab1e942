package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping/rpingtest"
	"github.com/purerdma/rdma/uverbs"
)

// world is a fake machine: what discovery finds, and a network that connects
// it with itself through memory.
type world struct {
	diag  *uverbs.Diagnosis
	gids  map[string][]uverbs.GIDEntry
	slots int // of each GID table; 0 for not known

	addErr, deleteErr error
	dialErr           error // of every dial
	listenErr         error
	corrupt           func([]byte)
	cmAnswers         map[string]error // of connect requests, by address
	you, peer         endInfo          // both ends of pings; zero for not known

	mu        sync.Mutex
	listeners map[string]*fakeListener
	ports     int
	ends      []*rpingtest.End
}

// emptyWorld has no RDMA.
func emptyWorld() *world {
	noProtocol := fmt.Errorf("RDMA netlink socket: %w", syscall.EPROTONOSUPPORT)
	return &world{
		listeners: map[string]*fakeListener{},
		addErr: &uverbs.LinkError{Op: "add", Name: "rxe0", Type: "rxe", Netdev: "eth0", Module: "ib_core",
			Cause: "this kernel has no RDMA", Remedy: "modprobe rdma_rxe", Err: noProtocol},
		deleteErr: &uverbs.LinkError{Op: "delete", Name: "rxe0", Err: uverbs.ErrNoDevice},
		dialErr:   &cm.OpError{Op: "dial", Err: fmt.Errorf("open /dev/infiniband/rdma_cm: %w", syscall.ENOENT)},
		listenErr: &cm.OpError{Op: "listen", Err: fmt.Errorf("open /dev/infiniband/rdma_cm: %w", syscall.ENOENT)},
		diag: &uverbs.Diagnosis{
			Kernel:     "6.12.0",
			NetlinkErr: noProtocol, SysfsErr: syscall.ENOENT,
			Modules:     []uverbs.ModuleStatus{{Name: "ib_core", State: uverbs.ModuleNotLoaded, Evidence: "/proc/modules does not list it"}},
			CMUsability: uverbs.Usability{State: uverbs.NoCharDevice, Reason: "module rdma_ucm is not loaded", Remedy: "modprobe rdma_ucm"},
			Findings: []uverbs.Finding{
				{ID: "RP-MOD-001", Object: "module ib_core", Problem: "not loaded (no RDMA netlink; /proc/modules does not list it)", Remedy: "modprobe rdma_rxe"},
				{ID: "RP-DEV-001", Object: "RDMA device", Problem: "this machine has none", Remedy: "rdmaprobe rxe add NETDEV"},
			},
		},
	}
}

// rxeWorld has a soft-RoCE device that works, and one whose node is missing.
func rxeWorld() *world {
	w := emptyWorld()
	w.addErr, w.deleteErr, w.dialErr, w.listenErr = nil, nil, nil, nil
	rxe0, rxe1 := rxeDevice(0, "eth0"), rxeDevice(1, "eth1")
	w.diag = &uverbs.Diagnosis{
		Kernel: "6.12.0", NetnsMode: "shared", CopyOnFork: true,
		Modules:     []uverbs.ModuleStatus{{Name: "ib_core", State: uverbs.ModulePresent, Evidence: "RDMA netlink answers"}},
		CM:          uverbs.CharDev{Name: "rdma_cm", Path: "/dev/infiniband/rdma_cm", Major: 10, Minor: 61, ABIVersion: 4},
		CMUsability: uverbs.Usability{State: uverbs.Usable},
		Devices:     []*uverbs.Device{rxe0, rxe1},
		Usability: []uverbs.Usability{{State: uverbs.Usable}, {State: uverbs.NoCharDevice,
			Reason: "/dev/infiniband/uverbs1 is missing (expected a character device 231:193)", Remedy: "docker --device /dev/infiniband/uverbs1", Err: syscall.ENOENT}},
		Findings: []uverbs.Finding{{ID: "RP-DEV-002", Object: "device rxe1",
			Problem: "no char device: /dev/infiniband/uverbs1 is missing (expected a character device 231:193)",
			Remedy:  "in a container: pass it in (docker --device /dev/infiniband/uverbs1, or the device plugin must list it); on a host: mknod"}},
	}
	w.gids = map[string][]uverbs.GIDEntry{
		"rxe0": {gid(0, "fe80::1", "eth0"), gid(1, "10.0.0.1", "eth0"), gid(2, "2001:db8::1", "eth0"), gid(5, "10.0.5.1", "eth0.5")},
	}
	return w
}

func rxeDevice(n int, netdev string) *uverbs.Device {
	return &uverbs.Device{
		Index: n, Name: "rxe" + strconv.Itoa(n), NodeGUID: 0x5054_00ff_fe00_0000 + uverbs.GUID(n),
		NodeType: uverbs.NodeCA, Protocol: uverbs.ProtocolRoCE, DriverID: abi.RDMA_DRIVER_RXE, Source: "netlink",
		CharDev: uverbs.CharDev{Name: "uverbs" + strconv.Itoa(n), Path: "/dev/infiniband/uverbs" + strconv.Itoa(n),
			Major: 231, Minor: uint32(192 + n), ABIVersion: 2},
		Ports: []uverbs.PortInfo{{Number: 1, State: uverbs.PortActive, Phys: uverbs.PhysLinkUp, LinkLayer: uverbs.LinkEthernet,
			Netdev: netdev, NetdevMTU: 1500, SpeedMbps: 2500, Width: 1}},
	}
}

func gid(index int, addr, netdev string) uverbs.GIDEntry {
	return uverbs.GIDEntry{Index: index, GID: uverbs.GIDFromAddr(netip.MustParseAddr(addr)), Type: uverbs.GIDTypeRoCEv2, Netdev: netdev}
}

func (w *world) system() system {
	return system{
		diagnose: func() *uverbs.Diagnosis { return w.diag },
		gids: func(d *uverbs.Device, _ int) ([]uverbs.GIDEntry, error) {
			if g, ok := w.gids[d.Name]; ok {
				return g, nil
			}
			return nil, fmt.Errorf("GID table of %s: %w", d.Name, syscall.ENOENT)
		},
		gidSlots: func(*uverbs.Device, int) int { return w.slots },
		addLink: func(_ context.Context, cfg uverbs.LinkConfig) (*uverbs.Device, error) {
			if w.addErr != nil {
				return nil, w.addErr
			}
			d := rxeDevice(2, cfg.Netdev)
			if cfg.Name != "" {
				d.Name = cfg.Name
			}
			return d, nil
		},
		deleteLink: func(context.Context, string) error { return w.deleteErr },
		addresses: func() map[string][]netip.Addr {
			return map[string][]netip.Addr{"eth0": {netip.MustParseAddr("fe80::1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("2001:db8::1")}}
		},
		dial:      w.dial,
		listen:    w.listen,
		introduce: func(context.Context, *cm.Dialer, string) (endInfo, bool) { return w.you, w.you.Device != "" },
		cmProbe:   w.cmProbe, lookup: w.lookup,
		holders:     w.listHolders,
		watch:       w.watch,
		benchSystem: w.bench(),
		seeABI:      w.seeABI,

		diagnostics: w.diagnostics(),
	}
}

// fakeLink is a connection through memory.
type fakeLink struct {
	*rpingtest.End
	local, remote netip.AddrPort
	info          endInfo // of the own end
	data          []byte  // of the peer
	other         *fakeLink
	answered      chan struct{}
	rejected      error // of the client
}

func (l *fakeLink) LocalAddr() net.Addr        { return cm.Addr{AddrPort: l.local} }
func (l *fakeLink) RemoteAddr() net.Addr       { return cm.Addr{AddrPort: l.remote} }
func (l *fakeLink) Device() string             { return "rxe0" }
func (l *fakeLink) Done() <-chan struct{}      { return l.Gone() }
func (l *fakeLink) Close() error               { l.HangUp(); return nil }
func (l *fakeLink) Transport() rping.Transport { return l.End }
func (l *fakeLink) PathMTU() int               { return 1024 }

type fakeListener struct {
	addr  netip.AddrPort
	queue chan *fakeLink
	quit  chan struct{}
	once  sync.Once
}

func (l *fakeListener) Addr() net.Addr { return cm.Addr{AddrPort: l.addr} }
func (l *fakeListener) Close() error   { l.once.Do(func() { close(l.quit) }); return nil }
func (l *fakeListener) Accept(ctx context.Context) (request, error) {
	select {
	case c := <-l.queue:
		return fakeRequest{c}, nil
	case <-l.quit:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type fakeRequest struct{ *fakeLink }

func (l *fakeLink) PeerData() []byte { return l.data }
func (r fakeRequest) Info() endInfo  { return r.info }

func (r fakeRequest) Accept(_ context.Context, o *cm.AcceptOptions) (link, error) {
	if o != nil {
		r.other.data = o.PrivateData
	}
	close(r.answered)
	if o != nil && o.OnStep != nil {
		o.OnStep(cm.Step{Name: "accept", Took: time.Millisecond, Detail: "answered"})
	}
	return r.fakeLink, nil
}

func (r fakeRequest) Reject(data []byte) error {
	r.other.rejected = &cm.RejectError{Reason: abi.IB_CM_REJ_CONSUMER_DEFINED, PrivateData: data}
	close(r.answered)
	return nil
}

func (w *world) listen(_ context.Context, address string) (listener, error) {
	if w.listenErr != nil {
		return nil, w.listenErr
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	ip := netip.IPv6Unspecified()
	if host != "" {
		ip = netip.MustParseAddr(host)
	}
	n, _ := strconv.Atoi(port)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n == 0 {
		w.ports++
		n = 40000 + w.ports
	}
	l := &fakeListener{addr: netip.AddrPortFrom(ip, uint16(n)), queue: make(chan *fakeLink, 16), quit: make(chan struct{})}
	w.listeners[strconv.Itoa(n)] = l
	return l, nil
}

func (w *world) dial(_ context.Context, d *cm.Dialer, target string) (link, error) {
	if w.dialErr != nil {
		return nil, w.dialErr
	}
	remote := netip.MustParseAddrPort(target)
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.listeners[strconv.Itoa(int(remote.Port()))]
	if l == nil {
		return nil, &cm.OpError{Op: "dial", Step: "connect", Device: "rxe0", Remote: cm.Addr{AddrPort: remote},
			Err: &cm.RejectError{Reason: abi.IB_CM_REJ_INVALID_SERVICE_ID}}
	}
	w.ports++
	local := netip.AddrPortFrom(remote.Addr(), uint16(50000+w.ports))
	a, b := rpingtest.Pipe()
	b.Corrupt = w.corrupt
	w.ends = append(w.ends, a, b)
	if d.OnStep != nil {
		d.OnStep(cm.Step{Name: "resolve address", Took: time.Millisecond, Detail: "from " + local.String()})
		d.OnStep(cm.Step{Name: "connect", Took: time.Millisecond, Detail: "answered"})
	}
	client, server := &fakeLink{End: a, local: local, remote: remote}, &fakeLink{End: b, local: remote, remote: local}
	server.info, server.data, server.other, server.answered = w.peer, d.PrivateData, client, make(chan struct{})
	l.queue <- server
	<-server.answered
	if client.rejected != nil {
		return nil, &cm.OpError{Op: "dial", Step: "connect", Device: "rxe0", Remote: cm.Addr{AddrPort: remote}, Err: client.rejected}
	}
	return client, nil
}

// result is what a run printed and returned.
type result struct {
	code           int
	stdout, stderr string
}

// command runs a command line on a world.
func (w *world) command(t *testing.T, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var out, errOut bytes.Buffer
	code := runOn(ctx, w.system(), args, &out, &errOut)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Error("the command did not end by itself")
	}
	return result{code, out.String(), errOut.String()}
}
