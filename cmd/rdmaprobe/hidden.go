package main

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/purerdma/rdma/internal/testmode"
)

// hiddenFlags adds the switches that only tests use.
func hiddenFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.VarPF(switchValue{testmode.NoProviders.Store, testmode.NoProviders.Load}, "no-providers", "",
		"act as if this build had no data path for any driver").NoOptDefVal = "true"
	_ = f.MarkHidden("no-providers") // it exists
}

// switchValue is a flag that is kept elsewhere.
type switchValue struct {
	store func(bool)
	load  func() bool
}

func (v switchValue) Set(s string) error {
	on, err := strconv.ParseBool(s)
	if err == nil {
		v.store(on)
	}
	return err
}

func (v switchValue) String() string { return strconv.FormatBool(v.load != nil && v.load()) }
func (v switchValue) Type() string   { return "bool" }
