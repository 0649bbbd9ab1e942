// Releasetool makes what a release has besides binaries: an OCI image without
// a container engine, and a bill of materials.
//
//	releasetool image -o FILE.tar BINARY-amd64 BINARY-arm64
//	releasetool sbom  -o FILE.json BINARY
//
// It is a module of its own, so that what it needs is not in the module graph
// of those who use the library.
package main

import (
	"flag"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "releasetool:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("usage: releasetool image|sbom -o FILE BINARY...")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	out := flags.String("o", "", "file to write")
	version := flags.String("version", "", "version of the release")
	created := flags.Int64("time", 0, "time of the release, in seconds since 1970: it is all that may differ between builds")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if *out == "" || flags.NArg() == 0 {
		return fmt.Errorf("%s: -o and a binary are needed", args[0])
	}
	when := time.Unix(*created, 0).UTC()
	switch args[0] {
	case "image":
		return writeImage(*out, *version, when, flags.Args())
	case "sbom":
		return writeSBOM(*out, *version, when, flags.Arg(0))
	}
	return fmt.Errorf("no command %q", args[0])
}
