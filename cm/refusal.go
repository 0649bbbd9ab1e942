package cm

// What this package tells a peer that it refuses, as private data, so that the peer
// can tell it from a refusal by the kernel, which carries none. It is the text of
// RejectError.Text there.
const (
	refusedBusy = "busy" // the backlog is full; ErrBusy
)
