// Package ringtest is what the tests of all drivers have in common: queues that
// fill and drain each other, memory and doorbells of a fake core, measurements.
package ringtest
