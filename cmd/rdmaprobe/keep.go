package main

// kept bounds the lists in the documents of runs that nobody ends.
const kept = 10_000

// keep adds to a list. Beyond the bound only the last one is kept.
func keep[T any](list []T, v T) []T {
	if len(list) == kept {
		list = list[:kept-1]
	}
	return append(list, v)
}
