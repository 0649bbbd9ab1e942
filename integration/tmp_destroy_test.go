//go:build linux

package integration

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"testing"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/ucma"
)

func TestTmpDestroy(t *testing.T) {
	requireRDMA(t)
	_, dst := idsListen(t, nil) // answers nothing
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(3 * time.Second):
			}
			files, _ := filepath.Glob("/proc/self/task/*/stack")
			for _, f := range files {
				b, _ := os.ReadFile(f)
				if s := string(b); len(s) > 0 && (contains(s, "destroy") || contains(s, "cm_")) {
					fmt.Println(f, s)
				}
			}
		}
	}()
	var mu sync.Mutex
	var took []time.Duration
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 60 {
				id, err := cm.NewID(nil)
				if err != nil {
					t.Error(err)
					return
				}
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				if err := id.ResolveAddr(ctx, ucma.Sockaddr{}, dst); err != nil {
					t.Log(err)
				} else if err := id.ResolveRoute(ctx); err != nil {
					t.Log(err)
				} else if err := id.StartConnect(&ucma.ConnParam{QPNum: 7}, ucma.ECE{}); err != nil {
					t.Log(err)
				}
				cancel()
				switch (w + i) % 4 {
				case 0:
				case 1:
					time.Sleep(time.Duration(rand.N(2000)) * time.Microsecond)
				case 2:
					time.Sleep(time.Duration(rand.N(30)) * time.Millisecond)
				case 3:
					time.Sleep(time.Duration(rand.N(200)) * time.Millisecond)
				}
				start := time.Now()
				_ = id.Close()
				d := time.Since(start)
				mu.Lock()
				took = append(took, d)
				mu.Unlock()
				if d > time.Second {
					fmt.Println("slow", w, i, d)
				}
			}
		})
	}
	wg.Wait()
	sort.Slice(took, func(i, j int) bool { return took[i] > took[j] })
	t.Log(took[:20])
	id, _ := cm.NewID(nil)
	for i := range 100 {
		s := id.Channel().Stats()
		if i%10 == 0 || s.Destroying == 0 {
			fmt.Printf("%d %+v\n", i, s)
		}
		if s.Destroying == 0 {
			break
		}
		time.Sleep(time.Second)
	}
	close(stop)
	_ = id.Close()
}

func contains(s, x string) bool {
	for i := 0; i+len(x) <= len(s); i++ {
		if s[i:i+len(x)] == x {
			return true
		}
	}
	return false
}
