package interrupt

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

func read(ctx context.Context, f *os.File) (string, error) {
	defer Arm(ctx, f.SetReadDeadline)()
	b := make([]byte, 16)
	n, err := f.Read(b)
	return string(b[:n]), err
}

// TestArm: the end of a context wakes a wait, and later waits of the same file
// know nothing of it.
func TestArm(t *testing.T) {
	r, w := pipe(t)
	for range 100 {
		ctx, cancel := context.WithCancel(context.Background())
		go cancel()
		if _, err := read(ctx, r); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("interrupted: %v", err)
		}
		if _, err := w.WriteString("later"); err != nil {
			t.Fatal(err)
		}
		if got, err := read(context.Background(), r); got != "later" || err != nil {
			t.Fatalf("after it: %q, %v", got, err)
		}
	}
}

// TestArmUnused: a context that ends after the wait changes nothing.
func TestArmUnused(t *testing.T) {
	r, w := pipe(t)
	for _, text := range []string{"first", "second"} {
		if _, err := w.WriteString(text); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		got, err := read(ctx, r)
		cancel()
		if got != text || err != nil {
			t.Fatalf("%q, %v", got, err)
		}
	}
}
