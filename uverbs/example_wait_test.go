package uverbs_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/purerdma/rdma/uverbs"
)

// A completion with a time limit. The request itself goes on when the limit has
// passed: its memory must stay until it completes or the queue pair is closed.
func ExampleCQ_Wait() {
	var qp *uverbs.QP // its CQs have a CompChannel
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	var wcs [16]uverbs.WC
	n, err := qp.RecvCQ().Wait(ctx, wcs[:])
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Println("nothing came")
		return
	}
	if err != nil {
		log.Fatal(err) // closed, device removed, or the queue overflowed
	}
	for i := range wcs[:n] {
		if err := wcs[i].Err(); err != nil {
			log.Fatal(err)
		}
		fmt.Println("request", wcs[i].ID, "is done")
	}
}

// One queue with quick exchanges: its waiter sleeps in the kernel, and a completion
// wakes no other goroutine.
func ExampleContext_CreateBlockingCompChannel() {
	var c *uverbs.Context
	ch, err := c.CreateBlockingCompChannel()
	if err != nil {
		log.Fatal(err)
	}
	defer ch.Close()
	cq, err := c.CreateCQ(uverbs.CQConfig{Entries: 64, Channel: ch})
	if err != nil {
		log.Fatal(err)
	}
	defer cq.Close()
	var wcs [16]uverbs.WC
	n, err := cq.Wait(context.Background(), wcs[:]) // as on any channel
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n, "requests are done")
}
