package ucma

import (
	"errors"
	"syscall"
	"testing"

	"github.com/purerdma/rdma/abi"
)

func TestDecodeList(t *testing.T) {
	rec := lay(72, field{0, uint32(0x2b)})
	for _, tc := range []struct {
		name string
		b    []byte
		want int
		err  error
	}{
		{"empty answer", nil, 0, syscall.EIO},
		{"half a header", make([]byte, 7), 0, syscall.EIO},
		{"none", lay(8), 0, nil},
		{"one", append(lay(8, field{0, uint32(1)}), rec...), 1, nil},
		{"more than there are", append(lay(8, field{0, ^uint32(0)}), rec...), 1, nil},
		{"one cut off", append(lay(8, field{0, uint32(2)}), append(rec, rec[:71]...)...), 1, nil},
		{"room to spare", append(lay(8, field{0, uint32(1)}), make([]byte, 720)...), 1, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := decodeList[abi.IBPathRecData](tc.b)
			if len(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %d records, %v", len(got), err)
			}
		})
	}
}

func FuzzDecodeList(f *testing.F) {
	f.Add(lay(8+72, field{0, uint32(1)}, field{8, uint32(0x2b)}))
	f.Add(lay(8+176, field{0, ^uint32(0)}))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		paths, err := decodeList[abi.IBPathRecData](b)
		checkList(t, b, len(paths), 72, err)
		for i, p := range paths {
			if p.Flags != host.Uint32(b[8+72*i:]) {
				t.Errorf("record %d has flags %#x", i, p.Flags)
			}
		}
		services, err := decodeList[abi.IBUserServiceRec](b)
		checkList(t, b, len(services), 176, err)
	})
}

func checkList(t *testing.T, b []byte, n, size int, err error) {
	t.Helper()
	if (err == nil) != (len(b) >= 8) {
		t.Fatalf("%d bytes: %v", len(b), err)
	}
	if err == nil && (uint64(n) > uint64(host.Uint32(b)) || 8+n*size > len(b)) {
		t.Errorf("%d records of %d bytes", n, len(b))
	}
}

// TestQueryPathRoom: kernels 5.10 and 6.12 lose a record that just fits.
func TestQueryPathRoom(t *testing.T) {
	r := &recorder{respAt: 0, answer: lay(8 + 6*72)}
	if _, err := openOn(t, r).QueryPath(1); err != nil {
		t.Fatal(err)
	}
	if out := host.Uint16(r.frames[0][6:]); out < 8+7*72 {
		t.Errorf("room for %d bytes", out)
	}
}

func TestQueryRouteHostileCount(t *testing.T) {
	r := &recorder{respAt: 0, answer: lay(208, field{192, ^uint32(0)})}
	route, err := openOn(t, r).QueryRoute(1)
	if err != nil || route.NumPaths > 2 {
		t.Errorf("%d paths, %v", route.NumPaths, err)
	}
	if !route.Src.IsZero() || route.Src.String() != "none" {
		t.Errorf("source %v, want none", route.Src)
	}
}
