package main

import "time"

// reachability is whether IP packets arrive, small ones and large ones.
type reachability struct {
	small, large bool
	err          error // why nothing is known
	took         time.Duration
}
