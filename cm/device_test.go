package cm

import (
	"testing"

	"github.com/purerdma/rdma/internal/fakecm"
	"github.com/purerdma/rdma/ucma"
	"github.com/purerdma/rdma/uverbs"
)

// TestDeviceOpensBesideOthers: while one device is being opened others can be
// used, and who wants the same one gets the same answer.
func TestDeviceOpensBesideOthers(t *testing.T) {
	newRig(t)
	const slow = 99
	asked, answer := make(chan struct{}), make(chan struct{})
	byIndex := host.deviceByIndex
	host.deviceByIndex = func(index int) (*uverbs.Device, error) {
		if index != slow {
			return byIndex(index)
		}
		close(asked) // a second question would panic
		<-answer
		return nil, uverbs.ErrNoDevice
	}
	acquireSlow := func() (*device, error) { return acquireDevice("", &ucma.Route{Port: 1, DeviceIndex: slow}) }
	first := async(acquireSlow)
	<-asked
	second := async(acquireSlow)

	other, err := acquireDevice("", &ucma.Route{Port: 1, DeviceIndex: fakecm.DefaultDevice.Index})
	if err != nil {
		t.Fatal(err)
	}
	other.put()
	for users := 0; users < 2; { // until the second waits, too
		devices.mu.Lock()
		users = devices.open[slow].refs
		devices.mu.Unlock()
	}
	close(answer)
	for _, c := range []<-chan result[*device]{first, second} {
		_, err := get(t, c)
		wants(t, err, uverbs.ErrNoDevice)
	}
}
