package view

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// The smallest screen that holds all.
const (
	LeastColumns = 80
	LeastRows    = 24
)

// The sequences that switch to the other screen of a terminal and hide the cursor, and back
// (xterm's private modes), and those that draw over the last frame (ECMA-48).
const (
	enterScreen = "\x1b[?1049h\x1b[?25l"
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	restOfLine  = "\x1b[K"
	restOfAll   = "\x1b[J"
)

// A Screen is the terminal of a view.
type Screen struct {
	Out   io.Writer
	Title string                     // of the first line
	Color bool                       // or plain text
	Size  func() (columns, rows int) // asked each time, because users change it
	Log   io.Writer                  // gets the notes, too
}

// Open returns a view on a screen of its own, which disappears at the end and leaves a line.
func (s Screen) Open() View {
	fmt.Fprint(s.Out, enterScreen)
	return &screen{Screen: s, lines: lines{out: s.Out, notes: s.Log}, began: time.Now()}
}

type screen struct {
	Screen
	lines
	began  time.Time
	recent []string
}

// Show implements [View].
func (s *screen) Show(f Figures) {
	s.course.add(f)
	s.draw()
}

// Note implements [View].
func (s *screen) Note(at time.Time, text string) {
	s.lines.Note(at, text)
	s.recent = append(s.recent, clock(at)+" "+text)
	s.recent = s.recent[max(0, len(s.recent)-mostRecent):]
}

// Close implements [View].
func (s *screen) Close() {
	fmt.Fprint(s.Out, leaveScreen)
	s.lines.Close()
}

func (s *screen) draw() {
	columns, rows := s.Size()
	var out strings.Builder
	out.WriteString(home)
	frame := s.frame(rows)
	for i, line := range frame[:min(len(frame), max(rows-1, 0))] { // some terminals scroll after the last row
		if i > 0 {
			out.WriteString("\r\n")
		}
		out.WriteString(s.paint(cut(line, columns)) + restOfLine)
	}
	out.WriteString(restOfAll)
	fmt.Fprint(s.Out, out.String())
}

// The rows of a frame besides the notes, and how many notes are kept.
const (
	fixedRows  = 13
	mostRecent = 200
)

func (s *screen) frame(rows int) []string {
	f := s.course[len(s.course)-1]
	out := []string{
		s.Title + ", for " + span(f.At.Sub(s.began)),
		"",
		labelled("backlog", f.backlog()),
		labelled("running", fmt.Sprintf("%d of %d, at most %d", f.Running, f.Size, f.Max)),
		labelled("size", f.Reason),
		labelled("", f.Change),
		labelled("rate", s.course.rate()),
		labelled("end", s.course.end()),
		labelled("ended", fmt.Sprintf("%s done, %s attempts failed, %s dead letters", count(f.Done), count(f.Failed), count(f.Rejected))),
		"",
	}
	free := max(rows-fixedRows, 0)
	out = append(out, s.recent[max(0, len(s.recent)-free):]...)
	for len(out) < rows-2 {
		out = append(out, "")
	}
	if f.Stopping {
		return append(out, "Ctrl-C ends the jobs that run, and they come back.")
	}
	return append(out, "Ctrl-C claims no more and lets jobs end; again: ends them, and they come back.")
}

// labelWidth is the width of the names of figures.
const labelWidth = 10

func labelled(name, text string) string { return fmt.Sprintf("%-*s%s", labelWidth, name, text) }

// paint makes the name of a figure bold.
func (s *screen) paint(line string) string {
	if !s.Color || len(line) < labelWidth || line[labelWidth-1] != ' ' {
		return line
	}
	return "\x1b[1m" + line[:labelWidth] + "\x1b[0m" + line[labelWidth:]
}

// cut cuts a line at the edge of the screen, because a longer one would wrap.
func cut(line string, columns int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	return string([]rune(line)[:max(columns, 0)])
}
