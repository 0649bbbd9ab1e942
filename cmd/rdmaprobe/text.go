package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
)

// lineWidth is the longest line, in columns, that is printed where lines can be
// broken: the terminal's, which main sets, and 100 without one.
var lineWidth = 100

// widthFor returns the longest line for a terminal of so many columns.
func widthFor(columns int) int { return min(max(columns, 80), 200) }

// wrap breaks text at spaces; the first line starts at column indent already,
// and the others are indented to there. What a terminal would not show is escaped.
func wrap(text string, indent int) string {
	var b strings.Builder
	column := indent
	for i, word := range strings.Fields(text) {
		word = plain.Text(word)
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > lineWidth:
			b.WriteByte('\n')
			b.WriteString(strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

// table prints rows in aligned columns; the first row is the heading.
func table(w io.Writer, rows [][]string) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if row[i] = plain.Text(cell); cell == "" {
				row[i] = "-"
			}
		}
		fmt.Fprintln(tw, strings.Join(row, "\t"))
	}
	_ = tw.Flush() // the writer below keeps the error
}

// perAddress returns a row for each address, with the address last; one
// without when there is none.
func perAddress(row, addresses []string) [][]string {
	if len(addresses) == 0 {
		return [][]string{append(row, "")}
	}
	var rows [][]string
	for _, a := range addresses {
		rows = append(rows, append(slices.Clone(row), a))
	}
	return rows
}

// milliseconds converts for JSON, to a microsecond.
func milliseconds(d time.Duration) float64 {
	return float64(d.Round(time.Microsecond).Microseconds()) / 1000
}

// formatMS prints milliseconds with three digits that count.
func formatMS(ms float64) string {
	switch {
	case ms < 1:
		return fmt.Sprintf("%.3f ms", ms)
	case ms < 10:
		return fmt.Sprintf("%.2f ms", ms)
	case ms < 100:
		return fmt.Sprintf("%.1f ms", ms)
	case ms < 10_000:
		return fmt.Sprintf("%.0f ms", ms)
	}
	return fmt.Sprintf("%.1f s", ms/1000)
}

func formatDuration(d time.Duration) string { return formatMS(milliseconds(d)) }

// plural returns "1 ping" or "2 pings".
func plural[T int | uint64](n T, noun string) string {
	if n == 1 {
		return fmt.Sprintf("1 %s", noun)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
