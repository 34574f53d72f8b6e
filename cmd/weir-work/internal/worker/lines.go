package worker

import (
	"fmt"
	"time"

	"github.com/weir-go/weir/pool"
)

// figures are the state of a worker at one moment.
type figures struct {
	backlog pool.Depth // of the stream; jobs that run are no part of it
	fault   error      // why the backlog is not known
	size    int64      // how many may run
	reason  string     // of the size

	done     uint64 // jobs that succeeded
	failed   uint64 // attempts that failed
	rejected uint64 // jobs that became dead letters
}

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
	f := w.figures
	backlog := fmt.Sprint(f.backlog.Count)
	if fault := w.trouble; fault != nil || f.fault != nil {
		if fault == nil {
			fault = f.fault
		}
		backlog = "not known: " + fault.Error()
	} else if !f.backlog.Exact && f.backlog.Count > 0 {
		backlog = "about " + backlog
	}
	fmt.Fprintf(w.Out, "%s backlog %s; running %d of %d (%s); done %d, failed %d, dead letters %d\n",
		clock(at), backlog, w.pool.Snapshot().Running, f.size, f.reason, f.done, f.failed, f.rejected)
}

// say writes a note about a job or the source.
func (w *worker) say(at time.Time, text string) { fmt.Fprintf(w.Notes, "%s %s\n", clock(at), text) }

// clock is in UTC, as the logs of servers are.
func clock(at time.Time) string { return at.UTC().Format("15:04:05Z") }
