//go:build linux

package integration

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/cm"
)

// benchWish is a request of bench's protocol (bench/param.go): both ends write messages of
// 64 bytes for a minute, by events.
func benchWish(token uint64, index, qps uint16, size uint32, to cm.RemoteMemory) []byte {
	b := binary.BigEndian.AppendUint32(nil, 0x52504232)
	b = append(b, 2, 2, 2, 1)                   // bandwidth, write, event, timed
	b = binary.BigEndian.AppendUint32(b, 50)    // µs of adaptive polling
	b = binary.BigEndian.AppendUint32(b, size)  // of a message
	b = binary.BigEndian.AppendUint16(b, 16)    // receives
	b = binary.BigEndian.AppendUint16(b, 0)     // inline
	b = binary.BigEndian.AppendUint16(b, index) // of the queue pair
	b = binary.BigEndian.AppendUint16(b, qps)   //
	b = binary.BigEndian.AppendUint64(b, token) //
	b = binary.BigEndian.AppendUint64(b, to.Addr)
	b = binary.BigEndian.AppendUint32(b, to.RKey)
	b = binary.BigEndian.AppendUint16(b, 1) // depth
	b = binary.BigEndian.AppendUint16(b, 1) // batch
	b = binary.BigEndian.AppendUint16(b, 1) // messages for a completion
	return binary.BigEndian.AppendUint32(b, 60_000)
}

// TestBenchHostile: a peer that writes more than it said, with immediate data, one that asks
// for all of the server's memory, and one that asks for the same queue pair twice are sent
// away, and an honest one is served beside them.
func TestBenchHostile(t *testing.T) {
	requireRDMA(t)
	fullSuiteOnly(t, ofProgram)
	checkLeaks(t)
	ctx := testContext(t)
	server, where := benchServe(t)
	pd, err := cm.OpenPD(listenOn(t, addrV4+":0", nil).Device())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := pd.Close(); err != nil {
			t.Error(err)
		}
	})
	mem := allocRegion(t, pd, 128, cm.RemoteWrite)
	dial := func(wish []byte) (*cm.Conn, error) {
		return (&cm.Dialer{PrivateData: wish, Config: &cm.Config{PD: pd}}).Dial(ctx, where)
	}
	if conn, err := dial(benchWish(1, 0, 64, 64<<20, mem.Remote())); err == nil {
		closeConn(t, conn)
		t.Error("8 GiB for one request")
	}
	server.await(t, "needs 8193 MiB here, allowed are 256")

	conn, err := dial(benchWish(2, 0, 1, 64, mem.Remote()))
	if err != nil {
		t.Fatal(err)
	}
	reply := conn.PrivateData()
	all := cm.RemoteMemory{RKey: binary.BigEndian.Uint32(reply[4:]), Addr: binary.BigEndian.Uint64(reply[8:]) - 64, Len: 128, Access: cm.RemoteWrite}
	if err := conn.WriteImm(ctx, all, 1, mem.All()); err != nil {
		t.Logf("the write: %v", err) // the server may end it first
	}
	server.await(t, "the peer wrote 128 bytes with immediate data")
	closeConn(t, conn)

	first, err := dial(benchWish(3, 0, 2, 64, mem.Remote()))
	if err != nil {
		t.Fatal(err)
	}
	if second, err := dial(benchWish(3, 0, 2, 64, mem.Remote())); err == nil {
		closeConn(t, second)
		t.Error("the same queue pair twice")
	}
	server.await(t, "queue pair 0 twice")
	probe(t, "bench", "lat", where, "-n", "50").want(t, 0)
	closeConn(t, first)
	if code := server.signal(t, syscall.SIGTERM); code != 0 {
		t.Errorf("server's exit code %d", code)
	}
}
