package rping

import "context"

// A Transport is what the protocol needs of a reliable connection. One
// goroutine uses it at a time.
type Transport interface {
	// Send sends one message and returns when the peer's device has it.
	Send(ctx context.Context, p []byte) error

	// Recv receives one message into p and returns its length, also when
	// that is more than p holds. The error matches io.EOF when the peer has
	// ended the connection and nothing is left.
	Recv(ctx context.Context, p []byte) (int, error)

	// Alloc makes memory of n zeroed bytes.
	Alloc(n int, r Rights) (Memory, error)

	// Read fetches src from the peer into the start of dst; Write puts the
	// first n bytes of src into the peer's memory dst.
	Read(ctx context.Context, dst Memory, src Info) error
	Write(ctx context.Context, dst Info, src Memory, n int) error
}

// Rights are what the peer may do with memory.
type Rights uint8

// Rights.
const (
	Private    Rights = iota // nothing
	PeerReads                // read it
	PeerWrites               // write it
)

// Memory is memory that the device may use.
type Memory interface {
	Bytes() []byte
	// Info tells the peer where all of the memory is.
	Info() Info
	Close() error
}
