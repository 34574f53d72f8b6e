package worker

import (
	"fmt"
	"time"
)

// each is the time from one line to the next.
const each = 10 * time.Second

// look notes when the source is in trouble, and prints a line each ten seconds.
func (w *worker) look(at time.Time) {
	trouble := w.Trouble()
	switch {
	case trouble != nil && w.trouble == nil:
		w.say(at, trouble.Error())
	case trouble == nil && w.trouble != nil:
		w.say(at, "the source is back")
	}
	w.trouble = trouble
	if at.Sub(w.printed) >= each {
		w.print(at)
	}
}

func (w *worker) print(at time.Time) {
	w.printed = at
	d, now := w.decision, w.pool.Snapshot()
	backlog := fmt.Sprint(d.Backlog.Count)
	switch {
	case w.trouble != nil:
		backlog = "not known: " + w.trouble.Error()
	case w.unknown != nil:
		backlog = "not known: " + w.unknown.Error()
	case !d.Backlog.Exact && d.Backlog.Count > 0:
		backlog = "about " + backlog
	}
	fmt.Fprintf(w.Out, "%s backlog %s; running %d of %d (%v); done %d, failed %d, dead letters %d\n",
		clock(at), backlog, now.Running, d.To, d.Reason, now.Completed, now.Failed, w.rejected)
}

// say writes a note about a job or the source.
func (w *worker) say(at time.Time, text string) { fmt.Fprintf(w.Notes, "%s %s\n", clock(at), text) }

// clock is in UTC, as the logs of servers are.
func clock(at time.Time) string { return at.UTC().Format("15:04:05Z") }
