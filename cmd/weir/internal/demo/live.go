package demo

import (
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/terminal"
	"github.com/weir-go/weir/internal/figures"
)

// The smallest screen for the live view.
const (
	leastColumns = 80
	leastRows    = 24
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
	l.write(terminal.Enter)
	l.draw()
}

func (l *live) show(s second) {
	l.past = append(l.past, s)
	l.draw()
}

// end restores the screen and prints the introduction of the table.
func (l *live) end() {
	l.write(terminal.Leave)
	l.introduce(time.Duration(l.course))
}

// draw draws a frame over the last one. It reads the size each time, because the user may
// change it.
func (l *live) draw() {
	columns, rows := l.size()
	l.write(terminal.Draw(frame(l.course, l.past, columns, rows), columns, rows, l.color))
}

type row = terminal.Row
