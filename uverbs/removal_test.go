package uverbs

import (
	"strings"
	"testing"
)

const removeEvent = "remove@/devices/virtual/infiniband_verbs/uverbs1\x00ACTION=remove\x00" +
	"DEVPATH=/devices/virtual/infiniband_verbs/uverbs1\x00SUBSYSTEM=infiniband_verbs\x00" +
	"MAJOR=231\x00MINOR=193\x00DEVNAME=infiniband/uverbs1\x00SEQNUM=1234\x00"

func TestRemovedNode(t *testing.T) {
	for _, tc := range []struct {
		name, event string
		ok          bool
	}{
		{"remove", removeEvent, true},
		{"add", strings.ReplaceAll(removeEvent, "remove", "add"), false},
		{"other subsystem", strings.ReplaceAll(removeEvent, "SUBSYSTEM=infiniband_verbs", "SUBSYSTEM=net"), false},
		{"nothing", "", false},
		{"cut short", removeEvent[:60], false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			name, number, ok := removedNode([]byte(tc.event))
			if ok != tc.ok || ok && (name != "uverbs1" || number != 1234) {
				t.Errorf("%q, %d, %v", name, number, ok)
			}
		})
	}
}

func FuzzRemovedNode(f *testing.F) {
	f.Add([]byte(removeEvent))
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, _, ok := removedNode(b); ok && len(b) < len("ACTION=remove") {
			t.Error("a removal out of nothing")
		}
	})
}

// TestRemovalWatch marks the contexts of the removed device only, and not one
// that was opened after an older device of that name was removed.
func TestRemovalWatch(t *testing.T) {
	open := func(name string) *Context {
		return &Context{dev: &Device{CharDev: CharDev{Name: name}}, gone: make(chan struct{})}
	}
	removed, newer, other := open("uverbs1"), open("uverbs1"), open("uverbs10")
	var w removalWatch
	w.add(removed, 1233)
	w.add(newer, 1234)
	w.add(other, 0)
	w.event([]byte(removeEvent))
	for i, tc := range []struct {
		c    *Context
		gone bool
	}{{removed, true}, {newer, false}, {other, false}} {
		select {
		case <-tc.c.gone:
			if !tc.gone {
				t.Errorf("context %d is gone", i)
			}
		default:
			if tc.gone {
				t.Errorf("context %d is not gone", i)
			}
		}
	}
	for _, c := range []*Context{removed, newer, other, other} {
		w.drop(c)
	}
	if w.listener != nil {
		t.Error("still listening")
	}
}
