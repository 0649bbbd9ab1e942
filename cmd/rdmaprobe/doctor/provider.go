package doctor

import (
	"errors"
	"strings"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/uverbs"
)

const rxeDriver = abi.RDMA_DRIVER_RXE

// checkProvider says for which devices this build can move data.
func checkProvider(f *Facts, r *Result) {
	var have []string
	for _, d := range f.Devices {
		if d.DataPath {
			have = append(have, d.Name+" "+d.Driver())
			continue
		}
		object, evidence := d.Name, "driver "+d.Driver()
		if d.OpenErr != nil && errors.Is(d.OpenErr, uverbs.ErrNoProvider) {
			r.find("RP-ABI-003", object, d.OpenErr.Error(), evidence, "use a newer rdmaprobe")
			continue
		}
		r.find("RP-DRV-001", object, "this build has no data path for driver "+d.Driver()+": ping and bench do not work, everything else does",
			evidence, "reachability needs no data path: rdmaprobe cmping ADDRESS")
	}
	r.Summary = strings.Join(have, ", ")
	if len(have) == 0 {
		r.Summary = "none"
	}
}
