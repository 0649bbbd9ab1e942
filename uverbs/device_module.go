package uverbs

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// ModuleState says what is known about a kernel module.
type ModuleState string

// Module states.
const (
	// ModulePresent: loaded or built in.
	ModulePresent ModuleState = "present"
	// ModuleNotLoaded: not in the kernel; it may or may not be installed.
	ModuleNotLoaded ModuleState = "not loaded"
	// ModuleNotInstalled: not in the kernel, and not among the installed modules of
	// the running kernel.
	ModuleNotInstalled ModuleState = "not installed"
	// ModuleUnknown: nothing that was readable tells.
	ModuleUnknown ModuleState = "unknown"
)

// ModuleStatus is what was found out about a kernel module, and how.
type ModuleStatus struct {
	Name  string
	State ModuleState
	// Evidence says what told, e.g. "/proc/modules does not list it".
	Evidence string
}

// moduleSigns are files or folders that exist only while a module is in the kernel,
// built in or not.
var moduleSigns = map[string][]string{
	"ib_core":   {sysClass},
	"ib_uverbs": {sysVerbsClass},
	"rdma_ucm":  {"sys/class/misc/rdma_cm"},
}

// module finds out about one module without asking the kernel to load it.
func (h *host) module(name string) ModuleStatus {
	for _, sign := range append(moduleSigns[name], "sys/module/"+name) {
		if _, err := os.Stat(h.path(sign)); err == nil {
			return ModuleStatus{name, ModulePresent, "/" + sign + " exists"}
		}
	}
	if found, _ := h.fileHas("proc/modules", func(l string) bool { return strings.HasPrefix(l, name+" ") }); found {
		return ModuleStatus{name, ModulePresent, "/proc/modules lists it"}
	}
	if name == "rdma_ucm" {
		if found, _ := h.fileHas("proc/misc", func(l string) bool { return strings.HasSuffix(l, " rdma_cm") }); found {
			return ModuleStatus{name, ModulePresent, "/proc/misc lists rdma_cm"}
		}
	}
	return h.absentModule(name)
}

// absentModule finds out why a module is not in the kernel.
func (h *host) absentModule(name string) ModuleStatus {
	folder := "lib/modules/" + h.release()
	isFile := func(l string) bool {
		path, _, _ := strings.Cut(l, ":")
		path = path[strings.LastIndexByte(path, '/')+1:]
		file, _, _ := strings.Cut(path, ".ko")
		return strings.ReplaceAll(file, "-", "_") == name
	}
	if builtin, _ := h.fileHas(folder+"/modules.builtin", isFile); builtin {
		return ModuleStatus{name, ModulePresent, "/" + folder + "/modules.builtin lists it"}
	}
	installed, err := h.fileHas(folder+"/modules.dep", isFile)
	switch {
	case err == nil && installed:
		return ModuleStatus{name, ModuleNotLoaded, "installed in /" + folder + ", but not loaded"}
	case err == nil:
		return ModuleStatus{name, ModuleNotInstalled, "/" + folder + "/modules.dep does not list it"}
	}
	if _, err := os.Stat(h.path("proc/modules")); err == nil {
		return ModuleStatus{name, ModuleNotLoaded, "/proc/modules does not list it"}
	}
	if _, err := os.Stat(h.path("proc/version")); err == nil {
		return ModuleStatus{name, ModuleNotInstalled, "not built in, and the kernel has no loadable modules (no /proc/modules)"}
	}
	return ModuleStatus{name, ModuleUnknown, "neither /sys, /proc nor /lib/modules tells"}
}

// fileHas reports whether a line of a text file matches. An error means that the file
// cannot be read.
func (h *host) fileHas(name string, match func(line string) bool) (bool, error) {
	f, err := os.Open(h.path(name))
	if err != nil {
		return false, err
	}
	defer f.Close()
	// modules.dep may be large; its lines are not.
	sc := bufio.NewScanner(io.LimitReader(f, 64<<20))
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		if match(sc.Text()) {
			return true, nil
		}
	}
	return false, sc.Err()
}

// osRelease returns ID and ID_LIKE of the distribution in one string.
func (h *host) osRelease() string {
	var ids []string
	_, _ = h.fileHas("etc/os-release", func(l string) bool { // absent in an empty image
		key, value, _ := strings.Cut(l, "=")
		if key == "ID" || key == "ID_LIKE" {
			ids = append(ids, strings.Trim(value, `"'`))
		}
		return false
	})
	return strings.Join(ids, " ")
}

// installRemedy says how the distribution provides a module that is not installed.
func (h *host) installRemedy(module string) string {
	ids, release := h.osRelease(), h.release()
	has := func(id string) bool { return strings.Contains(ids, id) }
	switch {
	case has("ubuntu"):
		return "apt install linux-modules-extra-" + release + " && modprobe " + module
	case has("debian") && strings.Contains(release, "cloud"):
		return "apt install linux-image-amd64 (arm64: linux-image-arm64) and boot it: the cloud kernel leaves RDMA drivers out"
	case has("fedora"), has("rhel"), has("centos"):
		return "dnf install kernel-modules-extra-" + release + " && modprobe " + module
	}
	return "boot a kernel with RDMA (CONFIG_INFINIBAND, module " + module + "), such as the stock kernel of a distribution"
}
