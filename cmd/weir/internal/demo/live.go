package demo

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir/internal/figures"
)

// The smallest screen for the live view.
const (
	leastColumns = 80
	leastRows    = 24
)

// The sequences that switch to the other screen of a terminal and hide the cursor, and back
// (xterm's private modes).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
)

// A second holds the figures of one second.
type second struct {
	at       time.Duration // its end
	phase    int           // len(phases) when the load has ended and some clients still wait
	adaptive figures.Line
	goodput  [len(lanes)]int // timely answers
}

// A view shows the demonstration while it runs.
type view interface {
	begin(c course)
	show(s second)
	end()
}

// view returns a live view if the screen is large enough, and otherwise lines.
func (cfg Config) view() view {
	if cfg.Size != nil {
		if columns, rows := cfg.Size(); columns >= leastColumns && rows >= leastRows {
			return &live{printer: printer{cfg.Out, cfg.Color}, size: cfg.Size}
		}
	}
	return lines{printer{cfg.Out, cfg.Color}}
}

// lines are a view of a line a second, for pipes and files.
type lines struct{ printer }

func (l lines) begin(c course) {
	l.introduce(time.Duration(c))
	l.heads()
}

func (l lines) show(s second) { l.second(s) }
func (l lines) end()          {}

// live is a view on a screen of its own, which disappears at the end.
type live struct {
	printer

	size   func() (columns, rows int)
	course course
	past   []second
}

func (l *live) begin(c course) {
	l.course = c
	l.write(enterScreen)
	l.draw()
}

func (l *live) show(s second) {
	l.past = append(l.past, s)
	l.draw()
}

// end restores the screen and prints the introduction of the table.
func (l *live) end() {
	l.write(leaveScreen)
	l.introduce(time.Duration(l.course))
}

// draw draws a frame over the last one. It reads the size each time, because the user may
// change it.
func (l *live) draw() {
	columns, rows := l.size()
	var out strings.Builder
	out.WriteString("\x1b[H")
	for i, line := range fitting(frame(l.course, l.past, columns, rows), rows) {
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(line.cut(columns).paint(l.printer) + "\x1b[K")
	}
	out.WriteString("\x1b[J")
	l.write(out.String())
}

// fitting drops the last rows if the screen is too small, as after it has shrunk. The last
// row of the screen stays free: some terminals scroll after it.
func fitting(frame []row, rows int) []row { return frame[:min(len(frame), max(rows-1, 0))] }

// A row is a line of the frame, in pieces of one style each.
type row []piece

type piece struct{ style, text string }

func plain(text string) row { return row{{"", text}} }

// cut cuts the row at the edge of the screen, because a longer one would wrap.
func (r row) cut(columns int) (short row) {
	for _, p := range r {
		letters := []rune(p.text)
		if len(letters) > columns {
			letters = letters[:max(columns, 0)]
		}
		columns -= len(letters)
		short = append(short, piece{p.style, string(letters)})
	}
	return short
}

func (r row) paint(p printer) string {
	var out strings.Builder
	for _, piece := range r {
		if piece.style == "" {
			out.WriteString(piece.text)
		} else {
			out.WriteString(p.paint(piece.style, piece.text))
		}
	}
	return out.String()
}

func (r row) width() (n int) {
	for _, p := range r {
		n += utf8.RuneCountInString(p.text)
	}
	return n
}
