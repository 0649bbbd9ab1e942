// Package bench measures latency and bandwidth between two machines, the way
// the programs of perftest do, so that their numbers can be compared: queue
// pairs made by hand on top of the connection manager, loops that allocate
// nothing, half the round trip for sends and writes.
//
// Each queue pair is a connection of its own. What the client wants travels in
// the private data of its connect request, and where the server's memory is in
// the answer; there is no other protocol. A [Server] takes any number of
// clients.
package bench
