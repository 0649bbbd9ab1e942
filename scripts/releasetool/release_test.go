package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// build makes a small static program.
func build(t *testing.T, arch string) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "main.go")
	if err := os.WriteFile(src, []byte("package main\n\nfunc main() {}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "prog-"+arch)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w -buildid=", "-o", out, src)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

// untar unpacks into a folder.
func untar(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	dir := t.TempDir()
	for r := tar.NewReader(f); ; {
		h, err := r.Next()
		if err == io.EOF {
			return dir
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		dst := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(dst), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dst, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestImage: a layout for two processors, each with one file in one layer, and
// the same bytes each time.
func TestImage(t *testing.T) {
	binaries := []string{build(t, "amd64"), build(t, "arm64")}
	var made [][]byte
	var path string
	for range 2 {
		path = filepath.Join(t.TempDir(), "image.tar")
		if err := writeImage(path, "v1.2.3", time.Unix(1_700_000_000, 0).UTC(), binaries); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, b)
	}
	if !bytes.Equal(made[0], made[1]) {
		t.Error("two images differ")
	}
	top, err := layout.ImageIndexFromPath(untar(t, path))
	if err != nil {
		t.Fatal(err)
	}
	m, err := top.IndexManifest()
	if err != nil || len(m.Manifests) != 1 || m.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "v1.2.3" {
		t.Fatalf("%+v, %v", m, err)
	}
	index, err := top.ImageIndex(m.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if m, err = index.IndexManifest(); err != nil || len(m.Manifests) != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		if m.Manifests[i].Platform.Architecture != arch {
			t.Errorf("platform %+v", m.Manifests[i].Platform)
		}
		img, err := index.Image(m.Manifests[i].Digest)
		if err != nil {
			t.Fatal(err)
		}
		cfg, err := img.ConfigFile()
		if err != nil || cfg.Architecture != arch || cfg.Config.User != "65534:65534" || cfg.Config.Entrypoint[0] != "/rdmaprobe" {
			t.Errorf("config %+v, %v", cfg, err)
		}
		layers, err := img.Layers()
		if err != nil || len(layers) != 1 {
			t.Fatalf("%d layers, %v", len(layers), err)
		}
		r, err := layers[0].Uncompressed()
		if err != nil {
			t.Fatal(err)
		}
		tr := tar.NewReader(r)
		h, err := tr.Next()
		if err != nil || h.Name != program || h.Mode != 0o755 {
			t.Errorf("file %+v, %v", h, err)
		}
		got, _ := io.ReadAll(tr)
		if want, _ := os.ReadFile(binaries[i]); !bytes.Equal(got, want) {
			t.Error("the file is another one")
		}
		if _, err := tr.Next(); err != io.EOF {
			t.Error("there are more files")
		}
	}
}

func TestImageRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeImage(filepath.Join(t.TempDir(), "o"), "v", time.Unix(0, 0), []string{path}); err == nil {
		t.Error("a script was taken")
	}
}

func TestSBOM(t *testing.T) {
	self, err := os.Executable() // built from many modules
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "sbom.json")
	if err := writeSBOM(out, "v1.2.3", time.Unix(0, 0).UTC(), self); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var bom struct {
		BomFormat  string
		Components []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(b, &bom); err != nil || bom.BomFormat != "CycloneDX" {
		t.Fatalf("%v: %s", err, b)
	}
	found := false
	for _, c := range bom.Components {
		found = found || c.Name == "github.com/CycloneDX/cyclonedx-go" && strings.HasPrefix(c.Purl, "pkg:golang/github.com/CycloneDX/cyclonedx-go@v")
	}
	if !found {
		t.Errorf("components %+v", bom.Components)
	}
}

// TestManifests reads the Kubernetes examples as the API server would: fields
// that do not exist are errors.
func TestManifests(t *testing.T) {
	const dir = "../../docs/kubernetes"
	for name, into := range map[string]any{"job.yaml": &batchv1.Job{}, "debug-pod.yaml": &corev1.Pod{}} {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(b, into); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var spec corev1.PodSpec
		var kind string
		switch v := into.(type) {
		case *batchv1.Job:
			spec, kind = v.Spec.Template.Spec, v.APIVersion+" "+v.Kind
		case *corev1.Pod:
			spec, kind = v.Spec, v.APIVersion+" "+v.Kind
		}
		if want := map[string]string{"job.yaml": "batch/v1 Job", "debug-pod.yaml": "v1 Pod"}[name]; kind != want {
			t.Errorf("%s is a %s", name, kind)
		}
		for _, c := range append(spec.InitContainers, spec.Containers...) {
			s := c.SecurityContext
			if s == nil || s.Privileged != nil || s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || len(s.Capabilities.Drop) != 1 {
				t.Errorf("%s: %s has more rights than it needs: %+v", name, c.Name, s)
			}
			if len(s.Capabilities.Add) > 0 && !runsAsRoot(spec.SecurityContext, s) {
				t.Errorf("%s: %s adds %v, which does nothing for another user than root", name, c.Name, s.Capabilities.Add)
			}
			if len(c.Args) == 0 || len(c.Command) != 0 || c.Resources.Limits.Memory().IsZero() {
				t.Errorf("%s: %s: %+v", name, c.Name, c)
			}
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("%d manifests, %v: each wants its test", len(files), err)
	}
}

// runsAsRoot: what the container says of its user counts before what the pod says.
func runsAsRoot(pod *corev1.PodSecurityContext, c *corev1.SecurityContext) bool {
	if c.RunAsUser == nil && pod != nil {
		return pod.RunAsUser != nil && *pod.RunAsUser == 0
	}
	return c.RunAsUser != nil && *c.RunAsUser == 0
}
