package rxe

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/ringtest"
)

// Offsets of struct rxe_av within a request.
const (
	wqeQPN   = 24
	wqeQKey  = 28
	wqeAHNum = 36
	wqeAV    = 56
	avGRH    = 8
	avSrc    = 32
	avDst    = 60
)

var (
	four = [16]byte{10: 0xff, 0xff, 10, 0, 0, 1}
	peer = [16]byte{10: 0xff, 0xff, 10, 0, 0, 2}
	six  = [16]byte{0xfe, 0x80, 15: 1}
)

// vector is the slow twin of addressVector, at offset wqeAV.
func vector(network byte, dgid [16]byte, src, dst []byte) []field {
	return []field{
		{wqeAV, []byte{1, network, 2, 3, 4, 5, 6, 7}}, {wqeAV + avGRH, dgid[:]}, {wqeAV + avGRH + 16, uint32(0xabcde)},
		{wqeAV + avGRH + 20, []byte{9, 64, 32}}, {wqeAV + avSrc, src}, {wqeAV + avDst, dst},
	}
}

func sockaddr4(last byte) []byte { return append(host.AppendUint16(nil, 2), 0, 0, 10, 0, 0, last) }

func sockaddr6(gid [16]byte) []byte {
	return append(append(host.AppendUint16(nil, 10), 0, 0, 0, 0, 0, 0), gid[:]...)
}

func TestDatagramBytes(t *testing.T) {
	for _, tc := range []struct {
		name string
		num  uint32 // the kernel's answer
		src  [16]byte
		dst  [16]byte
		want []field
	}{
		{"numbered", 77, four, peer, []field{{wqeAHNum, uint32(77)}}},
		{"IPv4", 0, four, peer, vector(1, peer, sockaddr4(1), sockaddr4(2))},
		{"IPv6", 0, six, six, vector(2, six, sockaddr6(six), sockaddr6(six))},
	} {
		t.Run(tc.name, func(t *testing.T) {
			env := ringtest.NewEnv()
			setup, err := newTestContext(t, env).SetupAH(provider.AHRequest{
				DGID: tc.dst, SGIDIndex: 9, Port: 1, FlowLabel: 0xabcde, HopLimit: 64, TrafficClass: 32,
				Source: func() (provider.AHSource, error) {
					return provider.AHSource{GID: tc.src, MAC: [6]byte{2, 3, 4, 5, 6, 7}}, nil
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			h, err := setup.Done(host.AppendUint32(make([]byte, 0, 8), tc.num)[:8])
			if err != nil {
				t.Fatal(err)
			}
			q, k := newTestQP(t, env, abi.IB_UVERBS_QPT_UD, 1)
			slot := k.sq.slot(0)
			fill(slot, 0xaa)
			wr := provider.SendWR{ID: 5, Opcode: abi.IB_UVERBS_WR_SEND_WITH_IMM, Imm: 0xcafe1234, SGEs: oneSGE,
				AH: &provider.AH{Driver: h}, RemoteQPN: 0x123456, RemoteQKey: 0x80010000}
			if err := ringtest.Send(q, &wr); err != nil {
				t.Fatal(err)
			}
			fields := append(slowSGEs(wqeSize, oneSGE), field{wqeID, uint64(5)}, field{wqeOpcode, uint32(3)},
				field{wqeEx, be32(0xcafe1234)}, field{wqeLength, uint32(100)}, field{wqeResid, uint32(100)},
				field{wqeNumSGE, uint32(1)}, field{wqeQPN, uint32(0x123456)}, field{wqeQKey, uint32(0x80010000)})
			want := slowEncode(wqeSize+16, append(fields, tc.want...)...)
			if diff := cmp.Diff(want, slot[:len(want)]); diff != "" {
				t.Errorf("slot (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSetupAHFails(t *testing.T) {
	setup, err := newTestContext(t, ringtest.NewEnv()).SetupAH(provider.AHRequest{
		Source: func() (provider.AHSource, error) { return provider.AHSource{}, syscall.ENODATA },
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := setup.Done(make([]byte, 7)); err == nil || !strings.Contains(err.Error(), "has 7 bytes") {
		t.Errorf("short answer: %v", err)
	}
	if _, err := setup.Done(make([]byte, 8)); !errors.Is(err, syscall.ENODATA) {
		t.Errorf("no source: %v", err)
	}
}

// TestAVLayout: what a C compiler says about struct rxe_av of 5.10 to 7.3.
func TestAVLayout(t *testing.T) {
	var av abi.RXEAV
	got := []uintptr{unsafe.Offsetof(av.GRH), unsafe.Offsetof(av.SgidAddr), unsafe.Offsetof(av.DgidAddr), unsafe.Sizeof(av)}
	if diff := cmp.Diff([]uintptr{avGRH, avSrc, avDst, 88}, got); diff != "" {
		t.Errorf("(-C +Go):\n%s", diff)
	}
}
