package uverbs

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/purerdma/rdma/abi"
)

// GID is a global identifier of a port, in network byte order. On RoCE it is the IPv6
// address, or the IPv4 address in IPv4-mapped form, that the port uses. GIDs are
// comparable; the zero GID marks an empty table slot.
type GID [16]byte

// ParseGID reads a GID in any IPv6 notation, or an IPv4 address, which it maps. It
// accepts what sysfs prints. The error says what is wrong with the text.
func ParseGID(s string) (GID, error) {
	a, err := netip.ParseAddr(strings.TrimSpace(s))
	if err != nil {
		return GID{}, fmt.Errorf("parse GID: %w", err)
	}
	if a.Zone() != "" {
		return GID{}, fmt.Errorf("parse GID %q: a GID has no zone", s)
	}
	return GIDFromAddr(a), nil
}

// GIDFromAddr returns the GID that RoCE v2 uses for an IP address. The zone is
// dropped. The invalid address gives the zero GID.
func GIDFromAddr(a netip.Addr) GID {
	if !a.IsValid() {
		return GID{}
	}
	return GID(a.As16())
}

// Addr returns the GID as an IP address: IPv4 when it is an IPv4-mapped one, else
// IPv6 without a zone.
func (g GID) Addr() netip.Addr { return netip.AddrFrom16(g).Unmap() }

// Is4 reports whether the GID is an IPv4-mapped address.
func (g GID) Is4() bool { return netip.AddrFrom16(g).Is4In6() }

// IsLinkLocal reports whether the GID is a link-local IPv6 address (fe80::/10).
func (g GID) IsLinkLocal() bool { return netip.AddrFrom16(g).IsLinkLocalUnicast() }

// IsZero reports whether the GID is all zero.
func (g GID) IsZero() bool { return g == GID{} }

// String returns the GID in IPv6 notation; IPv4-mapped ones as ::ffff:a.b.c.d.
func (g GID) String() string { return netip.AddrFrom16(g).String() }

// MarshalText implements encoding.TextMarshaler with the notation of String.
func (g GID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; it accepts what ParseGID does.
func (g *GID) UnmarshalText(b []byte) error {
	v, err := ParseGID(string(b))
	if err == nil {
		*g = v
	}
	return err
}

// GIDType says which protocol carries packets sent from a GID.
type GIDType abi.IBUverbsGIDType

// GID types. Unknown values of newer kernels are passed through.
const (
	// GIDTypeIB is a GID of an InfiniBand port.
	GIDTypeIB = GIDType(abi.IB_UVERBS_GID_TYPE_IB)
	// GIDTypeRoCEv1 is carried in Ethernet frames of type 0x8915.
	GIDTypeRoCEv1 = GIDType(abi.IB_UVERBS_GID_TYPE_ROCE_V1)
	// GIDTypeRoCEv2 is carried in UDP, port 4791.
	GIDTypeRoCEv2 = GIDType(abi.IB_UVERBS_GID_TYPE_ROCE_V2)
)

// String returns "IB", "RoCE v1", "RoCE v2" or the number.
func (t GIDType) String() string {
	switch t {
	case GIDTypeIB:
		return "IB"
	case GIDTypeRoCEv1:
		return "RoCE v1"
	case GIDTypeRoCEv2:
		return "RoCE v2"
	}
	return "GID type " + strconv.FormatUint(uint64(t), 10)
}

// MarshalText implements encoding.TextMarshaler with the name of String.
func (t GIDType) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// GUID is a 64-bit global identifier in host byte order: the value that the kernel
// prints as xxxx:xxxx:xxxx:xxxx, most significant digits first. Zero means none.
type GUID uint64

// ParseGUID reads the notation of String, or sixteen hexadecimal digits. The error
// says what is wrong with the text.
func ParseGUID(s string) (GUID, error) {
	digits := strings.ReplaceAll(strings.TrimSpace(s), ":", "")
	if len(digits) != 16 {
		return 0, fmt.Errorf("parse GUID %q: %w", s, errGUIDDigits)
	}
	v, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return 0, fmt.Errorf("parse GUID %q: %w", s, err)
	}
	return GUID(v), nil
}

var errGUIDDigits = errors.New("want 16 hexadecimal digits")

// GUIDFromBytes converts from network byte order, in which verbs commands and the
// connection manager report GUIDs.
func GUIDFromBytes(b [8]byte) GUID { return GUID(binary.BigEndian.Uint64(b[:])) }

// Bytes returns the GUID in network byte order.
func (g GUID) Bytes() (b [8]byte) {
	binary.BigEndian.PutUint64(b[:], uint64(g))
	return b
}

// String returns the GUID as four groups of four hexadecimal digits, as sysfs does.
func (g GUID) String() string {
	return fmt.Sprintf("%04x:%04x:%04x:%04x", uint16(g>>48), uint16(g>>32), uint16(g>>16), uint16(g))
}

// MarshalText implements encoding.TextMarshaler with the notation of String.
func (g GUID) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler; it accepts what ParseGUID does.
func (g *GUID) UnmarshalText(b []byte) error {
	v, err := ParseGUID(string(b))
	if err == nil {
		*g = v
	}
	return err
}
