package siw

import (
	"encoding/binary"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
)

// requestWord is the word with the flags of a request: 16 bits of flags, the number
// of entries, the opcode, in the order of memory.
func requestWord(flags abi.SIWWQEFlags, entries int, code abi.SIWOpcode) uint32 {
	var b [4]byte
	binary.NativeEndian.PutUint16(b[:], uint16(flags))
	b[2], b[3] = uint8(entries), uint8(code)
	return binary.NativeEndian.Uint32(b[:])
}

// requestFlags are the flags in such a word.
func requestFlags(word uint32) abi.SIWWQEFlags {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], word)
	return abi.SIWWQEFlags(binary.NativeEndian.Uint16(b[:]))
}

// A producer fills a ring of requests. Requests are written at once, but their
// flags, which hand them to the kernel, are kept back until publish.
type producer struct {
	ring  ring
	prod  uint32  // next element to write; runs freely
	shown uint32  // first element that the kernel has not been shown
	words *uint32 // of the elements between the two; as many as the ring has
}

// full reports whether there is no place for a request. The load is the acquire
// that lets the element be written after the kernel gave it back.
func (p *producer) full() bool {
	return p.prod-p.shown > p.ring.mask || requestFlags(p.ring.word(p.prod).Load()) != 0
}

// put ends the writing of the next request.
func (p *producer) put(word uint32) {
	*p.held(p.prod) = word
	p.prod++
}

// publish hands all requests to the kernel, in order, each with a release.
func (p *producer) publish() {
	for ; p.shown != p.prod; p.shown++ {
		p.ring.word(p.shown).Store(*p.held(p.shown))
	}
}

// waits reports whether the kernel has yet to take an element.
func (p *producer) waits(i uint32) bool {
	return requestFlags(p.ring.word(i).Load())&abi.SIW_WQE_VALID != 0
}

// close unmaps the ring. The second call does nothing.
func (r *ring) close(env provider.Env) error { return env.Unmap(r.take()) }

// take returns the mapping, for the caller to unmap, and nil the second time.
func (r *ring) take() []byte {
	mem := r.mem
	r.mem = nil
	return mem
}
