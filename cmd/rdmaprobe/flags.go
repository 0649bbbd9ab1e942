package main

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A letter means the same in every command: docs/rdmaprobe.md has the table. Those
// that ping(8) has mean what they mean there.
const (
	letterCount    = "c"
	letterSize     = "s"
	letterInterval = "i"
	letterTimeout  = "W"
)

// alias makes a flag known by another letter too, which the help does not show.
func alias(f *pflag.FlagSet, name, letter string) {
	f.AddFlag(&pflag.Flag{Name: letter, Shorthand: letter, Hidden: true, Value: aliasValue{f.Lookup(name)}})
}

// An aliasValue sets another flag.
type aliasValue struct{ flag *pflag.Flag }

func (v aliasValue) Set(s string) error {
	err := v.flag.Value.Set(s)
	v.flag.Changed = v.flag.Changed || err == nil
	return err
}

func (v aliasValue) String() string { return v.flag.Value.String() }
func (v aliasValue) Type() string   { return v.flag.Value.Type() }

// takeSeconds makes all flags for a time take a number without a unit for seconds, as
// ping(8) does.
func takeSeconds(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "duration" {
			f.Value = secondsValue{f.Value}
		}
	})
	for _, sub := range cmd.Commands() {
		takeSeconds(sub)
	}
}

// A secondsValue is a time.Duration, or a number of seconds.
type secondsValue struct{ pflag.Value }

func (v secondsValue) Set(s string) error {
	if _, err := time.ParseDuration(s); err != nil {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			s += "s"
		}
	}
	return v.Value.Set(s)
}
