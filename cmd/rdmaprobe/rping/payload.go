package rping

import "strconv"

// The letters of a payload: 'A' to 'z', and whatever lies between in ASCII.
const (
	firstLetter = 'A'
	lastLetter  = 'z'
	letters     = lastLetter - firstLetter + 1
)

// Fill writes the data of the n-th ping, counted from 0, into p: a head with
// the number, then letters that start one further with each ping, and a zero
// byte at the end. It is what the C client sends, byte for byte.
func Fill(p []byte, n uint64) {
	if len(p) == 0 {
		return
	}
	// The C program counts in an int and prints it with %d.
	head := strconv.AppendInt([]byte("rdma-ping-"), int64(int32(n)), 10)
	head = append(head, ": "...)
	done := copy(p, head)
	letter := n % letters
	for i := done; i < len(p); i++ {
		p[i] = byte(firstLetter + letter)
		letter = (letter + 1) % letters
	}
	p[len(p)-1] = 0
}

// Text returns the part of a payload that the C program prints: up to the
// first zero byte.
func Text(p []byte) string {
	for i, c := range p {
		if c == 0 {
			return string(p[:i])
		}
	}
	return string(p)
}
