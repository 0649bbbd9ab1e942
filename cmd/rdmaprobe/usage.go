package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

// narrowUsage breaks the descriptions of flags where a line would be too long.
func narrowUsage(template string) string {
	return strings.ReplaceAll(template, ".FlagUsages", fmt.Sprintf(".FlagUsagesWrapped %d", lineWidth))
}

var (
	badValue   = regexp.MustCompile(`^invalid argument "(.*)" for "(.*)" flag: (.*)$`)
	badCommand = regexp.MustCompile(`^unknown command ("[^"]*") for "(.*)"`)
)

// asUsage makes the parser's errors usage errors, and says in plain words what
// it says in those of the Go library.
func asUsage(cmd *cobra.Command, err error) error {
	if errors.As(err, new(*usageError)) {
		return err
	}
	msg := strings.TrimSpace(err.Error())
	if m := badValue.FindStringSubmatch(msg); m != nil {
		return usagef("%s: %q is %s", m[2], m[1], wrongValue(m[3]))
	}
	if m := badCommand.FindStringSubmatch(msg); m != nil && !cmd.HasSubCommands() {
		return usagef("%s takes no argument: %s is one too many", strings.TrimPrefix(m[2], "rdmaprobe "), m[1])
	}
	return &usageError{msg: meant(msg)}
}

// meant puts what the parser takes a command for into the same line.
func meant(msg string) string {
	msg, names, found := strings.Cut(msg, "Did you mean this?")
	msg = strings.TrimSpace(msg)
	if !found {
		return msg
	}
	return msg + ": did you mean " + strings.Join(strings.Fields(names), " or ") + "?"
}

// wrongValue says what is wrong with the value of a flag.
func wrongValue(why string) string {
	switch {
	case strings.Contains(why, "invalid duration"), strings.Contains(why, "missing unit"), strings.Contains(why, "unknown unit"):
		return "no time: write 500ms, 2s or 1m"
	case strings.HasSuffix(why, "value out of range"):
		return "too large, or negative"
	case strings.HasPrefix(why, "strconv.ParseBool"):
		return "neither true nor false"
	case strings.HasSuffix(why, "invalid syntax"):
		return "no number that this flag takes"
	}
	return why
}
