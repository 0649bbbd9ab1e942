//go:build !linux

package bench

import "github.com/purerdma/rdma/uverbs"

func rnrRetries(*uverbs.Device) uint8 { return 7 }
