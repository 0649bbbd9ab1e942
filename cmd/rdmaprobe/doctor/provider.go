package doctor

import (
	"fmt"
	"strings"

	"github.com/purerdma/rdma/abi"
)

const rxeDriver = abi.RDMA_DRIVER_RXE

// checkProvider says for which devices this build can move data.
func checkProvider(f *Facts, r *Result) {
	var have []string
	for _, d := range f.Devices {
		if d.DataPath && d.PathErr == nil {
			have = append(have, fmt.Sprintf("%s (%s)", d.Name, d.Driver()))
			continue
		}
		object, evidence := d.Name, "driver "+d.Driver()
		if d.DataPath {
			r.find("RP-ABI-003", object, d.PathErr.Error(), fmt.Sprintf("%s, interface version %d", evidence, d.CharDev.ABIVersion), "use a newer rdmaprobe")
			continue
		}
		r.find("RP-DRV-001", object, "this build has no data path for driver "+d.Driver()+": ping and bench do not work, everything else does",
			evidence, "reachability needs no data path: rdmaprobe cmping ADDRESS")
	}
	r.Summary = strings.Join(have, ", ")
	switch {
	case len(f.Devices) == 0:
		r.nothing("no device")
	case len(have) == 0:
		r.Summary = "none"
	}
}
