//go:build linux

package integration

import (
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/purerdma/rdma/abi"
)

// roceFilter is a firewall that swallows what comes in for RoCE's UDP port and
// lets everything else through.
//
// What goes out is another matter. If the sender itself filters that, soft-RoCE's
// queue for management packets sends no more after the first on Linux 7.3, also
// without the filter and to itself, until the device is made anew; on 5.10 its
// tasklet tries again for ever, and the processor is lost.
type roceFilter struct{ nft string } // the program

const filterTable = "inet hole"

func newRoCEFilter(t *testing.T) *roceFilter {
	t.Helper()
	return &roceFilter{nft: requireTool(t, "nft", "nftables")}
}

// add begins to filter both address families.
func (f *roceFilter) add(t *testing.T) {
	t.Helper()
	f.run(t, fmt.Sprintf(`
		add table %[1]s
		add chain %[1]s roce { type filter hook input priority 0 ; }
		add rule %[1]s roce udp dport %[2]d counter drop`, filterTable, abi.ROCE_V2_UDP_DPORT))
	t.Cleanup(func() { _ = exec.Command(f.nft, "delete", "table", filterTable).Run() }) // if the test ends before remove
}

// remove lets everything through again, and returns how many packets the filter
// has swallowed.
func (f *roceFilter) remove(t *testing.T) (swallowed int) {
	t.Helper()
	list := f.run(t, "list table "+filterTable)
	f.run(t, "delete table "+filterTable)
	m := regexp.MustCompile(`counter packets (\d+) `).FindStringSubmatch(list)
	if m == nil {
		t.Fatalf("no counter in\n%s", list)
	}
	swallowed, err := strconv.Atoi(m[1])
	if err != nil {
		t.Fatal(err)
	}
	return swallowed
}

// run gives nft a script and returns what it prints.
func (f *roceFilter) run(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.Command(f.nft, "-f", "-")
	cmd.Stdin = strings.NewReader(script + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("nft: %v\n%s\n%s", err, script, out)
	}
	return string(out)
}
