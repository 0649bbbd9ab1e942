// Package rxe is the data path of the soft-RoCE driver (kernel module
// rdma_rxe): the rings that a process shares with the kernel, what the create
// commands answer about them, and how requests and completions lie in them.
//
// # Rings
//
// Each queue is one mapping of the device file that starts with struct
// rxe_queue_buf and continues with a power of two of slots (rxe_queue_init).
// The side that fills a ring owns its producer index, the other side its
// consumer index; a ring with one free slot left is full. The process owns the
// producer index of send and receive rings and the consumer index of
// completion rings. It writes no other header word: 5.10 works on both indices
// in the mapping, whereas 6.1 and later keep a copy of the kernel's index and
// only publish it there (rxe_queue.h).
//
// Every word of a mapping may change at any time, since another process that
// inherited it may write there. So geometry is read once, checked against the
// length of the mapping and kept in private memory; the own index is kept in
// private memory too; and every index is masked before it becomes an address.
//
// # Layout across kernels
//
// Struct rxe_send_wqe of 5.10 has the UD address vector behind the request
// (field av) and later kernels have it at the end of the request (wr.ud.av).
// Both put it at offset 56, and all fields used here have equal offsets in
// 5.10, 6.1, 6.12 and 7.3; layout_test.go holds what a C compiler said about
// the headers of each. The word at offset 8 is num_sge in 5.10 and reserved
// later; no kernel reads it for a user's queue. 5.10 has no wr.ud.ah_num and
// keeps no number for an address handle, so it always gets the vector.
//
// # Doorbells
//
// The kernel looks at a send ring when asked (uverbs POST_SEND without work
// requests, rxe_post_send), so a batch costs one system call. It looks at a
// receive ring whenever a message arrives (rxe_resp.c check_resource), so
// receives cost none; after 5.10 there is no POST_RECV command for them either.
//
// One thing is lost by that: a receive posted after the queue pair has gone to
// the error state is not flushed at once, since nothing tells the kernel. It is
// flushed when the queue pair is taken to the error state once more
// (rxe_qp_error starts the receiver), or from 6.12 on by a send.
package rxe
