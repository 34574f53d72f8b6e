// Package worker runs the jobs of a pool, and prints its state.
package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weir-go/weir/cmd/weir-work/internal/command"
	"github.com/weir-go/weir/pool"
)

// Config configures a worker.
type Config struct {
	Out   io.Writer       // gets a line each ten seconds
	Notes io.Writer       // gets a line about each attempt that fails
	Max   int64           // the largest number of jobs at once
	Stop  <-chan struct{} // is closed when the worker should claim no more jobs
}

type worker struct {
	Config
	pool     *pool.Pool
	decision pool.Decision // the last before the wish to stop; its backlog has no running jobs
	unknown  error         // why that backlog is not known
	rejected uint64        // jobs that became dead letters
	stopping bool
	fault    error // the error of a command that could not start
}

// each is the time from one line to the next.
const each = 10 * time.Second

// Run runs the jobs of a pool until Stop is closed and the running jobs have ended, until ctx ends,
// or until the source or the start of a command fails. It handles the events of the pool, the clock
// and the wish to stop on one goroutine.
func Run(ctx context.Context, p *pool.Pool, c Config) error {
	w := &worker{Config: c, pool: p, decision: pool.Decision{To: c.Max}}
	events, end := make(chan pool.Event), make(chan error, 1)
	go func() {
		defer close(events)
		for e, err := range p.Run(ctx) {
			if err != nil {
				end <- err
				return
			}
			events <- e
		}
		end <- nil
	}()
	tick := time.NewTicker(each)
	defer tick.Stop()
	stop := c.Stop
	for {
		select {
		case e, more := <-events:
			if !more {
				w.print()
				return errors.Join(w.fault, <-end)
			}
			w.handle(e)
		case <-tick.C:
			w.print()
		case <-stop:
			stop = nil
			w.drain()
		}
	}
}

// drain ends the claiming of jobs. From then on the pool does not ask the source for its backlog.
func (w *worker) drain() {
	w.stopping = true
	w.pool.Drain()
}

func (w *worker) handle(e pool.Event) {
	switch e.Kind {
	case pool.Decided:
		if !w.stopping {
			w.decision, w.unknown = *e.Decision, e.Err
		}
	case pool.Done:
		if e.Err != nil { // the acknowledgement did not reach the source
			w.note(e, "is done, and may run again: ")
		}
	case pool.Failed:
		if e.Rejected {
			w.rejected++
			w.note(e, "is a dead letter: ")
		} else {
			w.note(e, "")
		}
		if errors.Is(e.Err, command.ErrStart) && w.fault == nil {
			w.fault = e.Err
			w.drain()
		}
	}
}

// longestID bounds the identifier of a job in a note: it may be from any program.
const longestID = 64

func (w *worker) note(e pool.Event, what string) {
	Note(w.Notes, fmt.Sprintf("job %.*q, attempt %d, %s%v", longestID, e.Key, e.Attempt, what, e.Err))
}

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

// clock returns the time in UTC, as in the logs of servers.
func clock() string { return time.Now().UTC().Format("15:04:05Z") }
