//go:build linux

package integration

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// exitCode is the machine code of exit(0), by processor.
var exitCode = map[string]struct {
	machine elf.Machine
	code    []byte
}{
	"amd64": {elf.EM_X86_64, []byte{0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05}},                // xor edi,edi; mov eax,60; syscall
	"arm64": {elf.EM_AARCH64, []byte{0, 0, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 1, 0, 0, 0xd4}}, // mov x0,0; mov x8,93; svc 0
	"s390x": {elf.EM_S390, []byte{0xa7, 0x29, 0, 0, 0x0a, 1}},                                  // lghi 2,0; svc 1
}

// trivialProgram returns a program that ends at once: it starts many times
// faster than a Go program, and the guest has no other.
func trivialProgram(t *testing.T) string {
	t.Helper()
	exit, ok := exitCode[runtime.GOARCH]
	if !ok {
		path, err := exec.LookPath("true")
		if err != nil {
			missing(t, "a program that ends at once", "install coreutils")
		}
		return path
	}
	const base = 0x400000
	order, data := binary.ByteOrder(binary.LittleEndian), elf.ELFDATA2LSB
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		order, data = binary.BigEndian, elf.ELFDATA2MSB
	}
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(data), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(exit.machine), Version: uint32(elf.EV_CURRENT),
		Ehsize: 64, Phoff: 64, Phentsize: 56, Phnum: 1, Entry: base + 64 + 56,
	}
	size := uint64(64 + 56 + len(exit.code))
	segment := elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Vaddr: base, Paddr: base,
		Filesz: size, Memsz: size, Align: 0x1000,
	}
	var b bytes.Buffer
	for _, part := range []any{header, segment, exit.code} {
		if err := binary.Write(&b, order, part); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "exit")
	if err := os.WriteFile(path, b.Bytes(), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
