//go:build !linux

package cm

// rnrRetry has nothing to do where there is no RDMA.
func (c *Conn) rnrRetry(agreed uint8) uint8 { return agreed }
