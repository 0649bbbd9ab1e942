package main

import (
	"debug/buildinfo"
	"os"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeSBOM lists the modules that a binary was built from, as the Go tool
// recorded them in it: what is listed is what is in there.
func writeSBOM(out, version string, when time.Time, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	bom := cdx.NewBOM()
	main := cdx.Component{Type: cdx.ComponentTypeApplication, BOMRef: "rdmaprobe", Name: "rdmaprobe", Version: version,
		PackageURL: purl(info.Main.Path, version), Licenses: &cdx.Licenses{{License: &cdx.License{ID: "MIT"}}}}
	bom.Metadata = &cdx.Metadata{Timestamp: when.Format(time.RFC3339), Component: &main}
	components := []cdx.Component{{Type: cdx.ComponentTypeLibrary, BOMRef: "std", Name: "std", Version: info.GoVersion,
		PackageURL: purl("std", info.GoVersion)}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, BOMRef: m.Path, Name: m.Path, Version: m.Version, PackageURL: purl(m.Path, m.Version)}
		if m.Sum != "" {
			c.Properties = &[]cdx.Property{{Name: "go.sum", Value: m.Sum}}
		}
		components = append(components, c)
	}
	var refs []string
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	bom.Components = &components
	bom.Dependencies = &[]cdx.Dependency{{Ref: "rdmaprobe", Dependencies: &refs}}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	defer f.Close()
	enc := cdx.NewBOMEncoder(f, cdx.BOMFileFormatJSON)
	enc.SetPretty(true)
	if err := enc.Encode(bom); err != nil {
		return err
	}
	return f.Close()
}

func purl(module, version string) string { return "pkg:golang/" + module + "@" + version }
