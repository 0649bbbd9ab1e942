package main

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

func newVersion(a *app) *cobra.Command {
	var ask bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Show versions of module, Go, kernel and ABIs",
		Long: `version shows what this program was built from, and which versions of the RDMA
interfaces the running kernel has. It works without RDMA as well. With --abi it
opens the devices and says which interfaces they take commands by.`,
		Example: "  rdmaprobe version\n  rdmaprobe version --abi --json",
		Args:    cobra.NoArgs,
		RunE: action(func(*cobra.Command, []string) error {
			diag := a.sys.diagnose()
			doc := newVersionDoc(diag)
			a.doc = doc
			if ask {
				doc.ABI = a.sys.seeABI(diag)
			}
			doc.write(a)
			if ask {
				doc.ABI.write(a)
			}
			return nil
		}),
	}
	cmd.Flags().BoolVar(&ask, "abi", false, "open the devices and show the interfaces they have")
	return cmd
}

// verbsABIFile holds the version of the verbs ABI as text.
const verbsABIFile = "/sys/class/infiniband_verbs/abi_version"

func newVersionDoc(diag *uverbs.Diagnosis) *versionDoc {
	doc := &versionDoc{Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: diag.Kernel, CMABI: diag.CM.ABIVersion, Devices: []deviceABIDoc{}}
	doc.fillBuild()
	if v, err := ucma.ABIVersion(); err == nil {
		doc.CMABI = v
	}
	if b, err := os.ReadFile(verbsABIFile); err == nil {
		doc.VerbsABI, _ = strconv.Atoi(strings.TrimSpace(string(b))) // 0 means not known
	}
	for _, d := range diag.Devices {
		doc.Devices = append(doc.Devices, deviceABIDoc{Name: d.Name, Driver: d.Driver(),
			ABIVersion: d.CharDev.ABIVersion, DataPath: uverbs.HasProvider(d.DriverID)})
	}
	return doc
}

// release is the name of a release, which the linker sets (scripts/release).
var release string

// fillBuild takes what the Go tool recorded in the binary.
func (doc *versionDoc) fillBuild() {
	doc.Version = "unknown"
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	doc.Module, doc.Version = info.Main.Path, info.Main.Version
	if release != "" {
		doc.Version = release
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			doc.Revision = s.Value
		case "vcs.modified":
			doc.Modified = s.Value == "true"
		}
	}
}

// write prints the versions for people.
func (doc *versionDoc) write(a *app) {
	rows := [][2]string{
		{"rdmaprobe", doc.Version},
		{"module", doc.Module},
		{"revision", doc.revision()},
		{"go", doc.Go + " " + doc.Platform},
		{"kernel", doc.Kernel},
		{"rdma_cm ABI", abiText(doc.CMABI, "module rdma_ucm is not there")},
		{"uverbs ABI", abiText(doc.VerbsABI, "module ib_uverbs is not there, or no sysfs")},
	}
	for _, d := range doc.Devices {
		path := "with data path"
		if !d.DataPath {
			path = "no data path in this build"
		}
		rows = append(rows, [2]string{d.Name, fmt.Sprintf("driver %s, ABI %d, %s", d.Driver, d.ABIVersion, path)})
	}
	width := 0
	for _, r := range rows {
		width = max(width, len(r[0]))
	}
	for _, r := range rows {
		a.printf("%-*s  %s\n", width, r[0], orDash(r[1]))
	}
}

func (doc *versionDoc) revision() string {
	if doc.Modified {
		return doc.Revision + " with changes"
	}
	return doc.Revision
}

func abiText(v int, missing string) string {
	if v == 0 {
		return "none (" + missing + ")"
	}
	return strconv.Itoa(v)
}
