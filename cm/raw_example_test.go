package cm_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

// One goroutine takes any number of IDs through their steps.
func ExampleEventChannel_NextEvent() {
	ctx := context.Background()
	ch, err := cm.NewRawEventChannel(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer ch.Close() // closes the IDs too

	ways, err := cm.ResolveAddrInfo(ctx, "storage.example.com", "7471", nil)
	if err != nil {
		log.Fatal(err)
	}
	for range 1000 {
		id, err := cm.NewID(&cm.IDOptions{Channel: ch})
		if err != nil {
			log.Fatal(err)
		}
		if err := id.StartResolveAddr(ways[0].Src, ways[0].Dst, 2*time.Second); err != nil {
			log.Fatal(err)
		}
	}
	for {
		id, ev, err := ch.NextEvent(ctx)
		if err != nil {
			log.Fatal(err)
		}
		switch ev.Type {
		case abi.RDMA_CM_EVENT_ADDR_RESOLVED:
			err = id.StartResolveRoute(2 * time.Second)
		case abi.RDMA_CM_EVENT_ROUTE_RESOLVED:
			err = id.StartConnect(&ucma.ConnParam{QPNum: 0x11}, ucma.ECE{}) // of a queue pair in INIT
		default:
			err = ev.Err()
		}
		if err != nil {
			fmt.Println(err)
			_ = id.Close()
		}
	}
}
