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
