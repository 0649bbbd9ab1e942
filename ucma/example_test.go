package ucma_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/netip"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
)

// Resolving an address with bare kernel commands: create an ID, start the
// step, read events until its outcome arrives.
func Example() {
	c, err := ucma.Open(nil)
	if err != nil {
		log.Fatal(err) // says which module is missing, or which permission
	}
	defer c.Close()

	id, err := c.CreateID(1, abi.RDMA_PS_TCP, uint8(abi.IB_UVERBS_QPT_RC))
	if err != nil {
		log.Fatal(err)
	}
	dst, err := ucma.SockaddrFrom(netip.MustParseAddrPort("10.0.0.1:7174"))
	if err != nil {
		log.Fatal(err)
	}
	if err := c.ResolveAddr(id, ucma.Sockaddr{}, dst, 2000); err != nil {
		log.Fatal(err)
	}
	for {
		ev, err := c.GetEvent(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		if ev.UID != 1 {
			continue // of an ID that was destroyed
		}
		fmt.Println(ev.Type, ev.Status)
		break
	}
	route, err := c.QueryRoute(id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("from %v, device %d port %d\n", route.Src, route.DeviceIndex, route.Port)
	if _, err := c.DestroyID(id); err != nil {
		log.Fatal(err)
	}
}

func ExampleChannel_Supports() {
	c, err := ucma.Open(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	switch ok, err := c.Supports(ucma.FeatureWriteEvent); {
	case errors.Is(err, ucma.ErrCredentialsChanged):
		fmt.Println("open the channel after changing credentials")
	case err != nil:
		log.Fatal(err)
	case ok:
		fmt.Println("kernel 6.18 or newer")
	}
}

func ExampleSockaddrFrom() {
	s, err := ucma.SockaddrFrom(netip.MustParseAddrPort("[::ffff:10.0.0.1]:7174"))
	fmt.Println(s, err)
	// Output: 10.0.0.1:7174 <nil>
}
