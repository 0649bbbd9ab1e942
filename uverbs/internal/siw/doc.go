// Package siw is the data path of the soft-iWARP driver (kernel module siw): the
// rings that a process shares with the kernel, what the create commands answer
// about them, and how requests and completions lie in them.
//
// # Rings
//
// A queue is one mapping of the device file: a power of two of elements, nothing
// before them, and behind those of a completion queue the control word. No index
// is shared. Each element has flags, and whoever finds them as it needs them owns
// the element: the process writes a request where the flags are zero and sets
// SIW_WQE_VALID last, which hands it over; the kernel copies the request, clears
// the flags and so gives the place back (siw_activate_tx_from_sq). Completions go
// the other way (siw_sqe_complete). Both sides go through the ring in order and
// keep their index to themselves.
//
// The flags share an aligned word of 32 bits with the number of entries and the
// opcode, or the opcode and the status. This package reads and writes that word
// as a whole, with atomic operations, which are the acquire and release that order
// the rest of an element. The kernel sets the flags of a completion by a plain
// store after the fields, which is enough on processors that keep the order of
// stores, such as amd64; it is the kernel's promise to keep elsewhere.
//
// Every byte of a mapping may change at any time, since another process that
// inherited it may write there. So geometry comes from the kernel's answer, is
// checked against the length of the mapping and kept in private memory, as the
// indices are; and an element is copied once before it is looked at.
//
// # Doorbells
//
// The kernel looks at a send ring when asked (uverbs POST_SEND without work
// requests, siw_post_send), and then goes on for as long as it finds valid
// elements. So none is needed while the element before the first new one still
// waits for the kernel. Receive rings need no doorbell. A completion queue is armed
// by a store to its control word, without a system call.
//
// # What is not there
//
// iWARP has no immediate data, no atomic operations, no datagrams. siw has no
// memory windows, does not resize queues, carries inline data only in plain sends
// and writes, and does not tell a process which key a peer's send has invalidated.
// RDMA reads fill one entry, cannot wait for earlier ones, and with invalidation
// they leave the key valid when a process asks (siw_rdmap_complete), so that they
// are refused here. So is what the kernel takes and forgets: an address of the
// caller's choice for a region, rights that siw does not know, attributes of a queue
// pair other than its state and rights. What the rights of a queue pair leave out is
// not forbidden: those of regions count. That all sends of a queue pair complete, it does for its own users only: here each
// request gets the flag.
//
// The kernel flushes what lies in the rings when a queue pair goes to the error
// state. What is posted later stays where it is, without completion, until the
// queue pair is destroyed.
package siw
