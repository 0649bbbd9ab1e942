package rdmanl

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/offheap"
)

var capture = flag.Bool("capture", false, "print the answers of this kernel in the format of testdata")

// recorder prints what the kernel answers.
type recorder struct {
	transport
	label string
}

func (r *recorder) exchange(ctx context.Context, typ uint16, dump bool, attrs []attr) ([][]byte, error) {
	payloads, err := r.transport.exchange(ctx, typ, dump, attrs)
	for _, p := range payloads {
		fmt.Printf("@ %s %s\n", r.label, hex.EncodeToString(p))
	}
	if err != nil {
		fmt.Printf("# %s: %v\n", r.label, err)
	}
	return payloads, err
}

// TestCapture makes the files of testdata. Run it on a kernel with an rxe device:
//
//	go test -c && scripts/vm -k 6.12 -- ./rdmanl.test -test.run TestCapture -capture | sed -n 's/^@ //p'
func TestCapture(t *testing.T) {
	if !*capture {
		t.Skip("makes testdata; needs -capture and an rxe device")
	}
	c, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	r := &recorder{transport: c.t}
	c.t = r
	bindCMID(t)
	ctx := t.Context()
	index := 0
	steps := []struct {
		label string
		call  func() error
	}{
		{"devices", func() error { _, err := c.Devices(ctx); return err }},
		{"device", func() error { _, err := c.Device(ctx, index); return err }},
		{"port", func() error { _, err := c.Port(ctx, index, 1); return err }},
		{"chardev-uverbs", func() error { _, err := c.CharDev(ctx, index, CharDevVerbs); return err }},
		{"chardev-rdma_cm", func() error { _, err := c.CharDev(ctx, NoIndex, CharDevCM); return err }},
		{"system", func() error { _, err := c.System(ctx); return err }},
		{"resources", func() error { _, err := c.Resources(ctx, index); return err }},
		{"qps", func() error { _, err := c.QPs(ctx, index); return err }},
		{"cmids", func() error { _, err := c.CMIDs(ctx, index); return err }},
	}
	for _, s := range steps {
		r.label = s.label
		if err := s.call(); err != nil {
			t.Errorf("%s: %v", s.label, err)
		}
		if s.label == "devices" {
			devs, _ := c.Devices(ctx)
			index = int(devs[0].Index)
		}
	}
	// Kernels before 5.16 refuse this one.
	r.label = "contexts"
	_, _ = c.Contexts(ctx, index)
	c.t = r.transport
	probeErrors(ctx, t, c, index)
}

// probeErrors prints which errno a mistake gives.
func probeErrors(ctx context.Context, t *testing.T, c *Client, index int) {
	const missing = 12345
	_, err := c.Device(ctx, missing)
	t.Logf("device that is not there: %v", err)
	_, err = c.Port(ctx, index, 7)
	t.Logf("port that is not there: %v", err)
	_, err = c.CharDev(ctx, index, "nonsense")
	t.Logf("kind that is not there: %v", err)
	_, err = c.CharDev(ctx, missing, CharDevVerbs)
	t.Logf("chardev of no device: %v", err)
	_, err = c.PortCharDev(ctx, index, 1, CharDevUMAD)
	t.Logf("umad: %v", err)
	devs, err := c.Devices(ctx)
	if err != nil {
		t.Fatal(err)
	}
	p, err := c.Port(ctx, index, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("second link on %s: %v", p.Netdev, NewLink(ctx, "second", "rxe", p.Netdev))
	t.Logf("name taken: %v", NewLink(ctx, devs[0].Name, "rxe", "lo"))
	t.Logf("no such netdev: %v", NewLink(ctx, "x0", "rxe", "nonesuch"))
	t.Logf("no such type: %v", NewLink(ctx, "x0", "nonesuch", p.Netdev))
	t.Logf("type siw: %v", NewLink(ctx, "x0", "siw", p.Netdev))
	t.Logf("bad name: %v", NewLink(ctx, "x%d", "rxe", p.Netdev))
	t.Logf("delete of no device: %v", DeleteLink(ctx, missing))
}

// bindCMID binds an rdma_cm ID to an address of the device, for the CM ID dump.
func bindCMID(t *testing.T) {
	fd, err := unix.Open("/dev/infiniband/rdma_cm", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	block, err := offheap.Get()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(block.Release)
	resp := offheap.Alloc[abi.RDMAUCMCreateIDResp](block)
	create := abi.RDMAUCMCreateID{UID: 1, Response: offheap.Addr(resp), Ps: uint16(abi.RDMA_PS_TCP), QPType: uint8(abi.IB_QPT_RC)}
	command(t, fd, abi.RDMA_USER_CM_CMD_CREATE_ID, &create, unsafe.Sizeof(*resp))
	bind := abi.RDMAUCMBindIP{ID: resp.ID, Addr: deviceAddress(t)}
	command(t, fd, abi.RDMA_USER_CM_CMD_BIND_IP, &bind, 0)
}

func command[T any](t *testing.T, fd int, cmd uint32, payload *T, out uintptr) {
	t.Helper()
	hdr := abi.RDMAUCMCmdHdr{Cmd: cmd, In: uint16(unsafe.Sizeof(*payload)), Out: uint16(out)}
	b := append([]byte(nil), bytesOf(&hdr)...)
	if _, err := unix.Write(fd, append(b, bytesOf(payload)...)); err != nil {
		t.Fatalf("rdma_cm command %d: %v", cmd, err)
	}
}

func bytesOf[T any](p *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

// deviceAddress returns the first IPv4 address that is not the loopback one.
func deviceAddress(t *testing.T) (sa abi.SockaddrIn6) {
	t.Helper()
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range addrs {
		p, err := netip.ParsePrefix(a.String())
		if err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
			b := bytesOf(&sa)
			binary.NativeEndian.PutUint16(b, afInet)
			copy(b[4:], p.Addr().AsSlice())
			return sa
		}
	}
	t.Fatal("no IPv4 address")
	return sa
}
