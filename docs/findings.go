// Package docs holds the documents that rdmaprobe prints parts of.
package docs

import _ "embed"

// Findings is findings.md: a section for each id of rdmaprobe doctor.
//
//go:embed findings.md
var Findings string
