// Package rping speaks the protocol of rping, the connection test of librdmacm,
// on either side, so that the other one may be the C program.
//
// For each ping the client tells the server where its data is; the server
// fetches it with an RDMA read and says so with a message; the client tells
// where it wants it back; the server puts it there with an RDMA write and says
// so. What the server sends is 16 bytes long and its content has no meaning:
//
//	client                          server
//	  ---- Info of the data --------->
//	  <---- RDMA read ----------------
//	  <---- go ahead -----------------
//	  ---- Info of the sink --------->
//	  <---- RDMA write ---------------
//	  <---- go ahead -----------------
//
// The connection ends when the client disconnects, normally between two pings.
//
// The package needs a [Transport], not a device: tests run it over memory, and
// [Over] makes one of a connection.
package rping
