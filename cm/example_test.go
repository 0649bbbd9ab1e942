package cm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/purerdma/rdma/cm"
)

// A server echoes the messages of each client.
func ExampleListen() {
	ctx := context.Background()
	l, err := cm.Listen(ctx, "10.0.0.1:7471", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer l.Close()
	for {
		req, err := l.Accept(ctx)
		if err != nil {
			return
		}
		go func() {
			conn, err := req.Accept(ctx, nil)
			if err != nil {
				log.Print(err)
				return
			}
			defer conn.Close()
			for {
				msg, err := conn.Recv(ctx)
				if err != nil {
					return // cm.ErrPeerClosed when the client is done
				}
				err = conn.SendCopy(ctx, msg.Data)
				msg.Release()
				if err != nil {
					log.Print(err)
					return
				}
			}
		}()
	}
}

// Errors tell why there is no connection.
func ExampleDial() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	conn, err := cm.Dial(ctx, "10.0.0.1:7471")
	var rejected *cm.RejectError
	switch {
	case errors.Is(err, cm.ErrNoListener):
		fmt.Println("the server is not running")
	case errors.As(err, &rejected):
		fmt.Println("the server refused:", rejected.Text())
	case errors.Is(err, context.DeadlineExceeded):
		fmt.Println("nobody answered")
	case err != nil:
		fmt.Println(err)
	default:
		defer conn.Close()
		fmt.Println("connected from", conn.LocalAddr())
	}
}

// One side exposes memory and tells the other with a message; the other
// writes to it directly.
func ExampleConn_Write() {
	expose := func(ctx context.Context, conn *cm.Conn) error {
		mem, err := conn.Alloc(1<<20, cm.RemoteWrite)
		if err != nil {
			return err
		}
		defer mem.Close()
		descriptor, err := mem.Remote().MarshalBinary()
		if err != nil {
			return err
		}
		if err := conn.SendCopy(ctx, descriptor); err != nil {
			return err
		}
		<-conn.Done() // the peer writes until it closes the connection
		return nil
	}
	write := func(ctx context.Context, conn *cm.Conn) error {
		msg, err := conn.Recv(ctx)
		if err != nil {
			return err
		}
		defer msg.Release()
		var remote cm.RemoteMemory
		if err := remote.UnmarshalBinary(msg.Data); err != nil {
			return err
		}
		mem, err := conn.Alloc(4096, 0)
		if err != nil {
			return err
		}
		defer mem.Close()
		copy(mem.Bytes(), "data for the other side")
		return conn.Write(ctx, remote, mem.All())
	}
	_, _ = expose, write
}
