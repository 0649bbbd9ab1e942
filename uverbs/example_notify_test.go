package uverbs_test

import (
	"context"
	"log"

	"github.com/purerdma/rdma/uverbs"
)

// One goroutine that serves many completion queues: the channel's events only
// say which of them is worth looking at.
func ExampleCompChannel() {
	var c *uverbs.Context // from Device.Open
	if err := serveQueues(context.Background(), c, 100); err != nil {
		log.Fatal(err)
	}
}

func serveQueues(ctx context.Context, c *uverbs.Context, n int) error {
	events, err := c.CreateCompChannel()
	if err != nil {
		return err
	}
	defer events.Close() // after the queues below
	wake := make(chan *uverbs.CQ, n)
	for range n {
		var cq *uverbs.CQ
		cq, err := c.CreateCQ(uverbs.CQConfig{
			Entries: 64, Channel: events,
			Notify: func() { wake <- cq }, // room for one event of each: it is armed once
		})
		if err != nil {
			return err
		}
		defer cq.Close()
		if err := cq.Arm(); err != nil {
			return err
		}
		// … queue pairs that use it
	}
	wcs := make([]uverbs.WC, 64)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case cq := <-wake:
			// Arm first: what completes after that makes an event, what
			// completed before is found now.
			if err := cq.Arm(); err != nil {
				return err
			}
			if err := drain(cq, wcs); err != nil {
				return err
			}
		}
	}
}

func drain(cq *uverbs.CQ, wcs []uverbs.WC) error {
	for {
		n, err := cq.Poll(wcs)
		if n == 0 || err != nil {
			return err
		}
		for i := range wcs[:n] {
			log.Println("request", wcs[i].ID, wcs[i].Status)
		}
	}
}
