package rdmanl

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
)

// NoIndex stands for "no device" where a request may do without one.
const NoIndex = -1

// dumpRetries is how often an interrupted dump is repeated before it is an error.
const dumpRetries = 5

// transport sends one request and returns the payloads of the answer.
type transport interface {
	exchange(ctx context.Context, typ uint16, dump bool, attrs []attr) ([][]byte, error)
	close() error
}

// Client is an RDMA netlink socket in the network namespace of the thread that opened
// it. Methods are safe for concurrent use; requests are made one after the other.
type Client struct {
	t transport
}

// Open opens an RDMA netlink socket. Without module ib_core the error matches
// EPROTONOSUPPORT, and on systems other than Linux errors.ErrUnsupported.
func Open() (*Client, error) {
	t, err := openSocket()
	if err != nil {
		return nil, wrap("socket", "", err)
	}
	return &Client{t}, nil
}

// Close closes the socket. A request under way ends first.
func (c *Client) Close() error { return c.t.close() }

// ask makes one request of the NLDEV client. It repeats a dump that was disturbed by a
// change, because a half list looks like devices or objects that went away.
func (c *Client) ask(ctx context.Context, cmd abi.RDMANldevCommand, dump bool, attrs []attr) ([][]byte, error) {
	typ := uint16(abi.RDMA_NL_NLDEV<<10) | uint16(cmd)
	for try := 0; ; try++ {
		payloads, err := c.t.exchange(ctx, typ, dump, attrs)
		if !errors.Is(err, errInterrupted) || try == dumpRetries {
			return payloads, err
		}
	}
}

// one makes a request that has exactly one answer and lets f decode its attributes.
func (c *Client) one(ctx context.Context, cmd abi.RDMANldevCommand, attrs []attr, f func(attr) error) error {
	payloads, err := c.ask(ctx, cmd, false, attrs)
	if err != nil {
		return err
	}
	if len(payloads) != 1 {
		return malformed("%d answers, want 1", len(payloads))
	}
	return forEachAttr(payloads[0], f)
}

func devIndex(index int) attr {
	return putU32(uint16(abi.RDMA_NLDEV_ATTR_DEV_INDEX), uint32(index))
}

func deviceObject(index int) string {
	if index == NoIndex {
		return ""
	}
	return fmt.Sprintf("device %d", index)
}

// lostIsInterrupted takes ENOBUFS, by which a socket says that it has lost messages,
// for an answer that was disturbed.
func lostIsInterrupted(err error) error {
	if errors.Is(err, syscall.ENOBUFS) {
		return errInterrupted
	}
	return err
}
