package uverbs

import (
	"fmt"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/internal/testmode"
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
func HasProvider(id abi.RDMADriverID) bool { return newDriver(id) != nil }

// newDriver looks the table up; nil means no data path.
func newDriver(id abi.RDMADriverID) func() provider.Driver {
	if testmode.NoProviders.Load() {
		return nil
	}
	return drivers[id]
}

// providerFor chooses the data path of a device. The error matches
// ErrNoProvider and names the driver, or the version skew.
func providerFor(d *Device) (provider.Driver, error) {
	open := newDriver(d.DriverID)
	if open == nil {
		return nil, fmt.Errorf("driver %s (id %d): %w", d.Driver(), uint32(d.DriverID), ErrNoProvider)
	}
	drv := open()
	lo, hi := drv.ABIVersions()
	// 0 means that discovery could not tell; the driver's own checks remain.
	if v := uint32(d.CharDev.ABIVersion); v != 0 && (v < lo || v > hi) {
		return nil, fmt.Errorf("driver %s has kernel interface version %d, this module speaks %d to %d: %w",
			drv.Name(), v, lo, hi, ErrNoProvider)
	}
	return drv, nil
}
