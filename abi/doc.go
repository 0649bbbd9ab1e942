// Package abi holds the structs, commands and constants of the Linux RDMA user
// space interface.
package abi
