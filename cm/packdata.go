package cm

import (
	"errors"
	"fmt"
	"syscall"
)

// MaxPackedData is the longest data that [PackData] takes, in bytes. What a
// message may carry is less: two bytes under [ID.MaxPrivateData].
const MaxPackedData = 255

// packHeader is the length and its complement, by which data of a peer that does
// not pack is told from data of one that does.
const packHeader = 2

// ErrNoData: the private data holds nothing that PackData has made, but zeros, as
// on InfiniBand and RoCE where the peer sent none.
var ErrNoData = errors.New("the peer sent no private data")

// PackData puts the length before data, so that [UnpackData] returns on the other
// side what was sent: the wire pads private data with zeros and does not carry its
// length, so that a decoder such as json.Unmarshal would find garbage at the end,
// and no data at all would look like a value of zeros. The result is two bytes
// longer than data: the length, and its complement.
//
// The error matches syscall.EINVAL when data is longer than MaxPackedData.
func PackData(data []byte) ([]byte, error) {
	n := len(data)
	if n > MaxPackedData {
		return nil, fmt.Errorf("private data of %d bytes: at most %d can be packed: %w", n, MaxPackedData, syscall.EINVAL)
	}
	return append([]byte{byte(n), ^byte(n)}, data...), nil
}

// UnpackData returns the data that the peer gave to [PackData]: a part of p, not
// nil. p is private data as it was received, padded or not: [Conn.PrivateData],
// [Request.PrivateData], that of an event or of a [RejectError].
//
// The error matches ErrNoData when there is none, and syscall.EINVAL when p is
// something else: not packed, cut short, or with more than zeros behind.
func UnpackData(p []byte) ([]byte, error) {
	if isZero(p) {
		return nil, ErrNoData
	}
	if len(p) < packHeader || p[0] != ^p[1] {
		return nil, fmt.Errorf("private data of %d bytes that PackData has not made: %w", len(p), syscall.EINVAL)
	}
	n, rest := int(p[0]), p[packHeader:]
	switch {
	case n > len(rest):
		return nil, fmt.Errorf("private data of %d bytes says that it has %d: %w", len(rest), n, syscall.EINVAL)
	case !isZero(rest[n:]):
		return nil, fmt.Errorf("private data goes on after its %d bytes: %w", n, syscall.EINVAL)
	}
	return rest[:n:n], nil
}

func isZero(p []byte) bool {
	for _, b := range p {
		if b != 0 {
			return false
		}
	}
	return true
}
