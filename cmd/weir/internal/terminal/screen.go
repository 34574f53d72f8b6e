package terminal

import (
	"math"
	"strings"
)

// The sequences that switch to the other screen of a terminal, hide the cursor and do not wrap long
// lines, and back (xterm's private modes).
const (
	Enter = "\x1b[?1049h\x1b[?25l\x1b[?7l"
	Leave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
)

// The styles of a [Piece].
const (
	Bold   = "1"
	Dim    = "2"
	Red    = "31"
	Green  = "32"
	Yellow = "33"
	Cyan   = "36"
)

// A Row is a line of the screen, in pieces of one style each.
type Row []Piece

// A Piece is text in a style; the empty style is the default.
type Piece struct{ Style, Text string }

// In is a text in a style.
func In(style, text string) Piece { return Piece{style, text} }

// Plain is a row in the default style.
func Plain(text string) Row { return Row{{"", text}} }

// Draw returns the sequences that draw rows over the last frame. The last row of the screen stays
// free: some terminals scroll after it.
func Draw(frame []Row, columns, rows int, color bool) string {
	var out strings.Builder
	out.WriteString("\x1b[H")
	for i, line := range frame[:min(len(frame), max(rows-1, 0))] {
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString("\x1b[K" + line.Cut(columns).Paint(color)) // erase first: the cursor stays on the last column
	}
	out.WriteString("\x1b[J")
	return out.String()
}

// Cut cuts the row at the edge of the screen.
func (r Row) Cut(columns int) (short Row) {
	for _, p := range r {
		letters := []rune(p.Text)
		if len(letters) > columns {
			letters = letters[:max(columns, 0)]
		}
		columns -= len(letters)
		short = append(short, Piece{p.Style, string(letters)})
	}
	return short
}

// Paint returns the row with its styles, if there are colours.
func (r Row) Paint(color bool) string {
	var out strings.Builder
	for _, p := range r {
		out.WriteString(Paint(p.Style, p.Text, color))
	}
	return out.String()
}

// Paint puts a text into a style, if there are colours.
func Paint(style, text string, color bool) string {
	if !color || style == "" {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// eighths are the heights of a column within one row.
var eighths = []rune(" ▁▂▃▄▅▆▇█")

// Bars draws a column for each value, up to the greatest one, from top to bottom. A NaN is an empty
// column; any other value is at least a line.
func Bars(values []float64, most float64, height int) []string {
	full := len(eighths) - 1
	rows := make([]string, height)
	for row := range rows {
		var line strings.Builder
		below := (height - 1 - row) * full // eighths
		for _, v := range values {
			if math.IsNaN(v) {
				line.WriteRune(' ')
				continue
			}
			tall := int(v/most*float64(height*full) + 0.5)
			if row == height-1 {
				tall = max(tall, 1)
			}
			line.WriteRune(eighths[min(max(tall-below, 0), full)])
		}
		rows[row] = line.String()
	}
	return rows
}
