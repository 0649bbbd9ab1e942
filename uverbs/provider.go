package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs/internal/provider"
	"github.com/purerdma/rdma/uverbs/internal/rxe"
	"github.com/purerdma/rdma/uverbs/internal/siw"
)

// drivers is the table of data paths: one line per kernel driver.
var drivers = map[abi.RDMADriverID]func() provider.Driver{
	abi.RDMA_DRIVER_RXE: rxe.New,
	abi.RDMA_DRIVER_SIW: siw.New,
}

// HasProvider reports whether this module implements the data path of a kernel driver.
func HasProvider(id abi.RDMADriverID) bool { return drivers[id] != nil }

// providerFor chooses the data path of a device. The error matches
// ErrNoProvider and names the driver, or the version skew.
func providerFor(d *Device) (provider.Driver, error) {
	newDriver := drivers[d.DriverID]
	if newDriver == nil {
		return nil, fmt.Errorf("driver %s (id %d): %w", d.Driver(), uint32(d.DriverID), ErrNoProvider)
	}
	drv := newDriver()
	lo, hi := drv.ABIVersions()
	// 0 means that discovery could not tell; the driver's own checks remain.
	if v := uint32(d.CharDev.ABIVersion); v != 0 && (v < lo || v > hi) {
		return nil, fmt.Errorf("driver %s has kernel interface version %d, this module speaks %d to %d: %w",
			drv.Name(), v, lo, hi, ErrNoProvider)
	}
	return drv, nil
}
