package view

import (
	"fmt"
	"io"
	"time"
)

// each is the time from one line to the next.
const each = 10 * time.Second

// Lines returns a view for pipes and files: a line each ten seconds, one at the end, and notes as
// they come, on a writer of their own.
func Lines(out, notes io.Writer) View { return &lines{out: out, notes: notes} }

type lines struct {
	out, notes io.Writer
	course     course
	shown      time.Time
}

func (l *lines) Show(f Figures) {
	l.course.add(f)
	if f.At.Sub(l.shown) >= each {
		l.print()
	}
}

func (l *lines) Note(at time.Time, text string) {
	fmt.Fprintf(l.notes, "%s %s\n", clock(at), text)
}

func (l *lines) Close() {
	if n := len(l.course); n > 0 && l.shown != l.course[n-1].At {
		l.print()
	}
}

func (l *lines) print() {
	f := l.course[len(l.course)-1]
	l.shown = f.At
	fmt.Fprintf(l.out, "%s backlog %s; running %d of %d (%s); %s; done %s, failed %s, dead letters %s; end %s\n",
		clock(f.At), f.backlog(), f.Running, f.Size, f.Reason, l.course.rate(),
		count(f.Done), count(f.Failed), count(f.Rejected), l.course.end())
}

// clock is in UTC, as the logs of servers are.
func clock(at time.Time) string { return at.UTC().Format("15:04:05Z") }
