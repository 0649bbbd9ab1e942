package cm_test

import (
	"fmt"

	"github.com/purerdma/rdma/cm"
)

func ExampleRemoteMemory_Slice() {
	m := cm.RemoteMemory{Addr: 0x1000, Len: 64, RKey: 7}
	part, err := m.Slice(16, 8)
	fmt.Printf("%#x %d %v\n", part.Addr, part.Len, err)
	_, err = m.Slice(60, 8)
	fmt.Println(err)
	// Output:
	// 0x1010 8 <nil>
	// remote memory [60:+8] of 64 bytes: numerical result out of range
}
