package cm

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/purerdma/rdma/abi"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// ErrNoHandles: the device had no address handle left. The kernel needs one for
// each message of the connection manager that waits for its answer; soft-RoCE
// of kernel 5.10 has 100, later kernels' and other devices have thousands. Make
// fewer connections at a time.
var ErrNoHandles = errors.New("the device has no address handle left")

// fewHandles: a device with no more address handles than that may run out.
const fewHandles = 1024

// handles is what a device says about its address handles. The kernel refuses to
// send a message with EINVAL when the connection is in the wrong state, and with
// soft-RoCE of 5.10 also when there is no address handle (rxe_add_to_pool, by way
// of cm_alloc_msg). The state is lost by then, so it is the device that is asked.
type handles struct {
	most int  // how many the device has; 0 if unknown
	none bool // whether it has none at this moment
}

// handles looks whether the ID's device lacks address handles.
func (id *ID) handles() (h handles) {
	route, err := id.Route()
	if err != nil || route.Port == 0 {
		return h
	}
	dev, err := findDevice(route)
	if err != nil {
		return h
	}
	ctx, err := uverbs.OpenOn(host.kernel, dev, nil)
	if err != nil {
		return h
	}
	defer ctx.Close()
	attr, err := ctx.QueryDevice()
	if err != nil || attr.MaxAH > fewHandles {
		return h
	}
	h.most = attr.MaxAH
	h.none = h.most > 0 && lacksHandle(ctx, int(route.Port))
	return h
}

// lacksHandle tries to make an address handle to the port itself, which needs
// no neighbour.
func lacksHandle(ctx *uverbs.Context, port int) bool {
	gids, err := ctx.QueryGIDs(port)
	if err != nil || len(gids) == 0 {
		return false
	}
	slot, err := gids[0].PathIndex()
	if err != nil {
		return false
	}
	pd, err := ctx.AllocPD()
	if err != nil {
		return false
	}
	defer pd.Close()
	ah, err := pd.CreateAH(uverbs.AHAttr{DGID: gids[0].GID, SGIDIndex: slot, Port: uint8(port)})
	if err != nil {
		return isErrno(err, syscall.EINVAL) || isErrno(err, syscall.ENOMEM)
	}
	_ = ah.Close()
	return false
}

// refused explains EINVAL of a command on a connection under way: its
// parameters are in range, so the peer has ended it, which the kernel reports in
// no other way before its event is here. ended is the cause to name then. A
// command that sends a message may also have failed for want of an address
// handle; when that cannot be told any more, the error says both and matches
// both.
func (id *ID) refused(ended, err error) error {
	var ue *ucma.Error
	if errors.As(err, &ue) && isErrno(ue, syscall.ECONNRESET) {
		return withCause(ended, err) // iWARP says so plainly
	}
	if !errors.As(err, &ue) || !isErrno(ue, syscall.EINVAL) {
		return err
	}
	var h handles
	if ue.Command != abi.RDMA_USER_CM_CMD_INIT_QP_ATTR {
		h = id.handles()
	}
	switch {
	case h.none:
		return noHandles(h, err)
	case h.most > 0:
		return fmt.Errorf("%w, or %w of %d: %w", ended, ErrNoHandles, h.most, err)
	}
	return withCause(ended, err)
}

// connectTries is how often a connect command is given to the kernel at most.
const connectTries = 3

// tryConnect runs a connect command. EINVAL may be the caller's mistake, or mean that
// there was no address handle; other connections may have given one back before the
// device can be asked. The command leaves the ID as it was, with a resolved route, when
// it fails (rdma_connect_locked), so it may be tried again: either it succeeds, or the
// device is asked again, and if it has a handle each time, that is not the reason.
func (id *ID) tryConnect(connect func() error) error {
	for tries := 1; ; tries++ {
		err := connect()
		if !isErrno(err, syscall.EINVAL) {
			return connectErrorIWARP(err)
		}
		if id.datagram() && id.overIWARP() {
			return fmt.Errorf("iWARP has no datagrams: %w: %w", errors.ErrUnsupported, err)
		}
		switch h := id.handles(); {
		case h.none:
			return noHandles(h, err)
		case h.most == 0 || tries == connectTries:
			return err
		}
	}
}

func noHandles(h handles, err error) error {
	return fmt.Errorf("%w of %d: %w", ErrNoHandles, h.most, err)
}
