//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/purerdma/rdma/uverbs"
)

// A contender is a client and a server to measure.
type contender struct {
	name   string
	client func(where netip.AddrPort, conns int) *exec.Cmd
	server func(where netip.AddrPort) *exec.Cmd
	parse  func(out string, conns int) (*result, error)
}

// contenders links the programs under names of their own, by which their
// system calls are told apart.
func contenders(dir string) ([]contender, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c, err := exec.LookPath("cmtime")
	if err != nil {
		return nil, fmt.Errorf("%w; take the package rdmacm-utils along", err)
	}
	link := func(name, target string) string {
		path := filepath.Join(dir, commPrefix+name)
		if err == nil {
			err = os.Symlink(target, path)
		}
		return path
	}
	cServer, cClient := link("c-server", c), link("c-client", c)
	list := []contender{
		{
			name: "cmtime",
			client: func(where netip.AddrPort, conns int) *exec.Cmd {
				return exec.Command(cClient, "-s", where.Addr().String(), "-p", strconv.Itoa(int(where.Port())), "-c", strconv.Itoa(conns))
			},
			server: func(where netip.AddrPort) *exec.Cmd {
				return exec.Command(cServer, "-b", where.Addr().String(), "-p", strconv.Itoa(int(where.Port())))
			},
			parse: parseCmtime,
		},
	}
	for _, how := range []struct{ name, server string }{{"phases", "server"}, {"dial", "listener"}} {
		goServer, goClient := link("go-"+how.server, self), link("go-"+how.name, self)
		list = append(list, contender{
			name: how.name,
			client: func(where netip.AddrPort, conns int) *exec.Cmd {
				n := strconv.Itoa(conns)
				return exec.Command(goClient, how.name, "-a", where.String(), "-c", n, "-parallel", n)
			},
			server: func(where netip.AddrPort) *exec.Cmd {
				return exec.Command(goServer, how.server, "-a", where.String())
			},
			parse: parseResult,
		})
	}
	return list, err
}

// run measures once, with a server of its own. Its port is a new one each
// time, as the old one stays taken for a moment.
func (c *contender) run(ctx context.Context, where netip.AddrPort, conns int) (*result, error) {
	server := c.server(where)
	var said bytes.Buffer
	server.Stdout, server.Stderr = &said, &said
	before := listeners()
	if err := server.Start(); err != nil {
		return nil, err
	}
	// cmtime's server has no other end.
	stopServer := sync.OnceFunc(func() {
		_ = server.Process.Signal(syscall.SIGTERM)
		_ = server.Wait()
	})
	defer stopServer()
	for deadline := time.Now().Add(10 * time.Second); listeners() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			return nil, fmt.Errorf("%v does not listen: %s", server, said.String())
		}
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	client := c.client(where, conns)
	stop := context.AfterFunc(ctx, func() { _ = client.Process.Kill() })
	defer stop()
	var problem bytes.Buffer
	client.Stderr = &problem
	out, err := client.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w: %s%s\nserver: %s", client, err, out, problem.String(), said.String())
	}
	// The server is about to close its side of the last connections.
	settle()
	stopServer()
	r, err := c.parse(string(out), conns)
	if err != nil {
		return nil, err
	}
	r.Active, r.Passive = cpuOf(client.ProcessState), cpuOf(server.ProcessState)
	return r, nil
}

func cpuOf(s *os.ProcessState) cpu { return cpu{User: s.UserTime(), System: s.SystemTime()} }

// resources counts kernel objects of a kind.
func resources(kind string) (n uint64) {
	devices, err := uverbs.Devices()
	if err != nil {
		return 0
	}
	for _, d := range devices {
		if counts, err := uverbs.ResourceSummary(d); err == nil {
			n += counts[kind]
		}
	}
	return n
}

func listeners() uint64 { return resources("cm_id") }

// settle waits until no queue pairs of connections are left.
func settle() {
	for deadline := time.Now().Add(20 * time.Second); resources("qp") > 1 && time.Now().Before(deadline); {
		time.Sleep(20 * time.Millisecond)
	}
}

func parseResult(out string, _ int) (*result, error) {
	r := new(result)
	return r, json.Unmarshal([]byte(out), r)
}

// parseCmtime reads lines like these, of which the first number is the total:
//
//	step              total ms     max ms     min us  us / conn
//	create id    :       13.87       9.75       5.00     138.70
func parseCmtime(out string, conns int) (*result, error) {
	r := &result{Conns: conns}
	for line := range strings.Lines(out) {
		name, rest, ok := strings.Cut(line, ":")
		fields := strings.Fields(rest)
		if !ok || len(fields) != 4 {
			continue
		}
		ms, err := strconv.ParseFloat(fields[0], 64)
		if err != nil {
			continue
		}
		r.Phases = append(r.Phases, phase{Name: strings.TrimSpace(name), Took: time.Duration(ms * float64(time.Millisecond))})
	}
	if len(r.Phases) != len(phaseNames) {
		return nil, fmt.Errorf("cmtime said what is not understood:\n%s", out)
	}
	return r, nil
}
