// Package integration tests the module on a real kernel with a soft-RoCE
// device. It changes network devices and kills processes, so it belongs into
// the guest of scripts/vm:
//
//	go test -exec "$PWD/scripts/vm -k 6.12" ./integration/
//	go test -exec "$PWD/scripts/vm --nodes 2" -run Nodes ./integration/
//	go test -exec "$PWD/scripts/vm --tools rdmacm-utils" -run Interop ./integration/
//	go test -exec "$PWD/scripts/vm --siw -k 6.1" -run 'Siw|Conn' ./integration/
//
// With --siw the device is soft-iWARP. Tests of connections run there too, and want
// the typed error of what iWARP lacks; onIWARP marks the differences.
//
// On a machine without RDMA the tests skip themselves, except when
// RDMA_REQUIRE=1 is set, as scripts/test does: then what is missing is a
// failure.
//
// Every test checks that it leaves nothing behind: kernel objects by the RDMA
// netlink resource summary, descriptors, goroutines and memory for devices.
package integration
