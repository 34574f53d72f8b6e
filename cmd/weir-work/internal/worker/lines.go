package worker

import (
	"fmt"
	"io"
	"time"
)

// each is the time from one line to the next.
const each = 10 * time.Second

func (w *worker) print() {
	d, now := w.decision, w.pool.Snapshot()
	backlog := fmt.Sprint(d.Backlog.Count)
	switch {
	case w.unknown != nil:
		backlog = "not known: " + w.unknown.Error()
	case !d.Backlog.Exact && d.Backlog.Count > 0:
		backlog = "about " + backlog
	}
	fmt.Fprintf(w.Out, "%s backlog %s; running %d of %d (%v); done %d, failed %d, dead letters %d\n",
		clock(), backlog, now.Running, d.To, d.Reason, now.Completed, now.Failed, w.rejected)
}

// Note writes a line about a job or the source.
func Note(to io.Writer, text string) { fmt.Fprintf(to, "%s %s\n", clock(), text) }

// clock is in UTC, as the logs of servers are.
func clock() string { return time.Now().UTC().Format("15:04:05Z") }
