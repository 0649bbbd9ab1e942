package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/purerdma/rdma/cmd/rdmaprobe/plain"
)

// narrowest is the least room, in columns, for text that is broken at spaces: with
// less it goes to lines of its own, below.
const narrowest = 30

// columns prints rows in aligned columns. The first row is the heading; the
// last column is broken where a line would be too long.
func columns(w io.Writer, rows [][]string) { paintedColumns(w, rows, nil) }

// paintedColumns is columns with a function that colours cells; it must not
// change their width.
func paintedColumns(w io.Writer, rows [][]string, paint func(row, column int, cell string) string) {
	rows = plainRows(rows)
	widths := columnWidths(rows)
	for y, row := range rows {
		var b strings.Builder
		indent := 0
		for x := range row {
			cell := row[x]
			if cell == "" {
				cell = "-"
			}
			last := x == len(row)-1
			if last {
				cell = wrapLast(cell, indent)
				if strings.HasPrefix(cell, "\n") {
					start := strings.TrimRight(b.String(), " ")
					b.Reset()
					b.WriteString(start)
				}
			}
			pad := 0
			if !last {
				pad = widths[x] + 2 - utf8.RuneCountInString(cell)
				indent += widths[x] + 2
			}
			if paint != nil {
				cell = paint(y, x, cell)
			}
			b.WriteString(cell + strings.Repeat(" ", pad))
		}
		fmt.Fprintln(w, b.String())
	}
}

// plainRows has what a terminal would not show escaped in each cell but the last, which is
// broken into lines.
func plainRows(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for y, row := range rows {
		out[y] = slices.Clone(row)
		for x := range len(row) - 1 {
			out[y][x] = plain.Text(row[x])
		}
	}
	return out
}

// wrapLast breaks the text of the last column, which starts at indent.
func wrapLast(cell string, indent int) string {
	if room := lineWidth - indent; room < narrowest && utf8.RuneCountInString(cell) > room {
		return "\n    " + wrap(cell, 4)
	}
	return wrap(cell, indent)
}

func columnWidths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for x, cell := range row {
			if x == len(widths) {
				widths = append(widths, 1) // of a dash
			}
			widths[x] = max(widths[x], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// Colours of a terminal.
const (
	colourRed    = "31"
	colourGreen  = "32"
	colourYellow = "33"
	colourBlue   = "34"
)

// painter returns a function that colours text: not at all unless standard
// output is a terminal whose user has not forbidden it.
func (a *app) painter() func(colour, text string) string {
	if a.json || os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb" || !a.onTerminal() {
		return func(_, text string) string { return text }
	}
	return func(colour, text string) string {
		if colour == "" {
			return text
		}
		return "\x1b[" + colour + "m" + text + "\x1b[0m"
	}
}

// onTerminal reports whether results go to a terminal.
func (a *app) onTerminal() bool {
	w, ok := a.raw.(*cancelWriter)
	if !ok {
		return false
	}
	f, ok := w.w.(*os.File)
	return ok && isTerminal(f)
}
