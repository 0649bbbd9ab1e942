package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/purerdma/rdma/cm"
	"github.com/purerdma/rdma/cmd/rdmaprobe/rping"
	"github.com/purerdma/rdma/uverbs"
)

// failure adds to an error what only the command knows.
type failure struct {
	step   string
	object string
	remedy string
	peer   string        // host:port, when it may be silent
	device string        // that the step went through; may be empty
	after  time.Duration // how long it took; 0 when that says nothing
	err    error
}

func (e *failure) Error() string {
	if e.step == "" {
		return e.err.Error()
	}
	return e.step + ": " + e.err.Error()
}

func (e *failure) Unwrap() error { return e.err }

// describe takes an error apart. The outermost layer that knows a part wins.
func describe(err error) *errorDoc {
	e := &errorDoc{Message: strings.ReplaceAll(err.Error(), "\n", "; ")}
	e.Class, e.ExitCode = classify(err)
	core := err // the error without what the command added
	var also []error
	for layer := err; layer != nil; {
		e.takeLayer(layer)
		others, inner := unwrap(layer)
		switch layer.(type) {
		case *commandError, *failure:
			core = inner
		}
		if e.Cause == "" { // several failures, and not several causes of one
			also = append(also, others...)
		}
		layer = inner
	}
	if e.Cause == "" {
		also = nil // core says it all
	}
	e.fill("run the command", "", core.Error(), "")
	for _, other := range also {
		e.Cause += "; then: " + other.Error()
	}
	e.Cause = strings.ReplaceAll(e.Cause, "\n", "; ") // errors.Join
	// What Go says of a deadline is of no help to people.
	e.Cause = strings.ReplaceAll(e.Cause, context.DeadlineExceeded.Error(), "no answer in time")
	if e.Remedy == "" {
		e.Remedy = rejectRemedy(err)
	}
	if e.Remedy == "" {
		e.Remedy = remedies[e.Class]
		if isDNS(err) {
			e.Remedy = "check the name; where no name server can be asked (an image without /etc/resolv.conf) write the address"
		}
	}
	return e
}

// unwrap returns the first error inside of err, and those joined with it.
func unwrap(err error) (others []error, inner error) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		if list := joined.Unwrap(); len(list) > 0 {
			return list[1:], list[0]
		}
	}
	return nil, errors.Unwrap(err)
}

// remedies are for classes whose errors bring none themselves.
var remedies = map[string]string{
	"no-listener":    "start one there: rdmaprobe serve, or rping -s -P",
	"busy":           "as many clients are waiting there as its listener takes: try again",
	"no-ports":       "close connections (rdmaprobe res -v shows who has them), or widen the range: sysctl net.ipv4.ip_local_port_range, which counts for IPv6 too",
	"rejected":       "ask the peer why: its log should say",
	"address-in-use": "choose another port: -a ADDR:PORT",
	"data-mismatch":  "data was changed on the way: suspect memory, a driver or the network",
	"protocol":       "is the other end a server or client of rping's protocol?",
	"peer-closed":    "look at the log of the other end; a C server needs -S of at least the client's size",
	"completion":     "a C server needs -S of at least the client's size",
	"permission":     "run as root, or give the user access to the devices in /dev/infiniband",
	"unreachable":    "check address, route and name",
	"no-device":      "rdmaprobe list shows devices, addresses, and what is missing",
}

// takeLayer fills what is still empty from one layer of an error.
func (e *errorDoc) takeLayer(layer error) {
	switch l := layer.(type) {
	case *usageError:
		e.fill("read the command line", "", "", l.remedy)
	case *failure:
		e.fill(l.step, l.object, "", l.remedy)
		e.AfterMS = milliseconds(l.after)
	case *rping.StepError:
		e.fill(fmt.Sprintf("ping %d: %s", l.Seq, l.Step), "", l.Err.Error(), "")
	case *cm.OpError:
		e.takeOp(l)
	case *uverbs.LinkError:
		cause := l.Err.Error()
		if l.Cause != "" {
			cause = l.Cause + ": " + cause
		}
		object := l.Name
		if l.Netdev != "" {
			object = strings.TrimSpace(fmt.Sprintf("%s (%s on %s)", l.Name, l.Type, l.Netdev))
		}
		e.fill(l.Op+" RDMA link", object, cause, l.Remedy)
	case *uverbs.Error:
		e.fill(l.Op, strings.TrimSpace(l.Device+" "+l.Object), l.Err.Error(), l.Hint)
	}
}

// takeOp takes a connection error apart. Its cause is more to the point than
// what the protocol above says, which repeats it with all that is around.
func (e *errorDoc) takeOp(l *cm.OpError) {
	step := l.Op
	if l.Step != "" {
		step += ": " + l.Step
	}
	var object []string
	if l.Local != nil && l.Remote != nil {
		object = append(object, fmt.Sprintf("%v -> %v", l.Local, l.Remote))
	} else if l.Remote != nil {
		object = append(object, l.Remote.String())
	} else if l.Local != nil {
		object = append(object, l.Local.String())
	}
	if l.Device != "" {
		object = append(object, "via "+l.Device)
	}
	e.Cause = ""
	e.fill(step, strings.Join(object, " "), l.Err.Error(), l.Hint)
}

func (e *errorDoc) fill(step, object, cause, remedy string) {
	for _, f := range []struct {
		dst *string
		src string
	}{{&e.Step, step}, {&e.Object, object}, {&e.Cause, cause}, {&e.Remedy, remedy}} {
		if *f.dst == "" {
			*f.dst = f.src
		}
	}
}

// write prints an error for people.
func (e *errorDoc) write(w io.Writer) {
	fmt.Fprintf(w, "%s: failed\n", e.Command)
	var after string
	if e.AfterMS > 0 {
		after = formatMS(e.AfterMS)
	}
	for _, row := range [][2]string{
		{"step", e.Step}, {"object", e.Object}, {"cause", e.Cause}, {"after", after}, {"remedy", e.Remedy},
	} {
		if row[1] != "" {
			fmt.Fprintf(w, "  %-7s %s\n", row[0], wrap(row[1], 10))
		}
	}
	if len(e.Findings) > 0 {
		fmt.Fprintln(w, "What is missing on this machine:")
		writeFindings(w, e.Findings)
	}
}
