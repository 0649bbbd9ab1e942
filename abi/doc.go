// Package abi holds the structs, constants and command numbers of the Linux
// RDMA user space interface: what a program writes to and reads from
// /dev/infiniband/rdma_cm, /dev/infiniband/uverbsN and NETLINK_RDMA. It covers
// whole headers as of Linux 7.3 and does no I/O.
//
// # Names
//
// Each header of include/uapi/rdma has a file of the same base name, long ones
// several (ib_user_verbs_qp.go). Constants keep the kernel's spelling:
// RDMA_USER_CM_CMD_CREATE_ID, UVERBS_METHOD_QP_CREATE. Those of a named C enum
// have a Go type of that name with underlying uint32 (uint64 where a value
// needs it); those of unnamed enums and macros are untyped.
//
// Go names of structs, enums and fields are the C names split at underscores
// with each word capitalised, and common initialisms in capitals: struct
// rdma_ucm_create_id is RDMAUCMCreateID, field pd_handle is PDHandle. The list
// of initialisms is in layout_names_test.go.
//
// # Layout
//
// Structs have the layout of the C compiler on 64-bit systems, in host byte
// order: fixed-width integers, arrays and other structs of this package only,
// padding written out as blank fields. Fields marked big-endian hold the bytes
// in network order whatever the host does. User addresses are plain uint64;
// keeping the memory behind them in place is the caller's duty. Flexible
// arrays at the end are left out, a comment tells their offset.
//
// A union is a field of the union's size and alignment with one accessor method
// per member, which returns a view of the same memory:
// (*RDMAUCMEventResp).ParamConn. An unnamed union has the name of its largest
// member and accessors for the others.
//
// Newer kernels append fields to responses and accept longer requests. Decode
// and the response lengths in the structs serve both directions: a short
// response leaves the rest zero.
//
// # Proof
//
// The tests compile a C program against the kernel's headers and compare size,
// alignment, every field and every constant with this package by name. They
// read the headers of the system, or those in the directory named by
// RDMA_UAPI_HEADERS (the include directory of a linux-libc-dev package of the
// newest kernel), where also nothing may be missing on either side.
//
// # Adding a header
//
// Add its name to the list in layout_test.go and run the tests with
// RDMA_UAPI_HEADERS set. They name everything that is missing. Write it down in
// a file of the header's name, with a comment per struct and constant group,
// and add the sizes to assert.go. To take over a newer kernel's version of a
// known header, only run the tests against it.
package abi
