package pool

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/wire"
)

// An Event is the result of a task, or the decision of a scaler. Every task that was
// claimed ends in exactly one event of kind Done, Failed or Cancelled.
type Event struct {
	Kind    Kind   // the kind of the event
	Key     string // of the task
	Value   any    // the task's result (Done) or report (Progress)
	Err     error  // the cause (Failed, Cancelled), the lease's error (Done), a scaler's (Decided)
	Attempt int    // which attempt it was, from 1; each earlier delivery counts as one

	// Rejected reports whether the source keeps the task as a dead letter (Failed, or Cancelled
	// because a task before it failed for good). Otherwise the source delivers the task again,
	// unless the error is [Permanent].
	Rejected bool

	Waited time.Duration // from when the task could start until it did
	Took   time.Duration // how long the attempt ran

	Decision *Decision // of a scaler (Decided)
}

// A Kind is a kind of [Event].
type Kind uint8

const (
	// Progress: a running task reported something.
	Progress Kind = 1
	// Done: the task succeeded.
	Done Kind = 2
	// Failed: the task failed for good.
	Failed Kind = 3
	// Cancelled: the task was claimed and never started.
	Cancelled Kind = 4
	// Decided: a scaler decided on the size of a resource, perhaps to hold it. With an error
	// the scaler or its law failed and the size was held, or the source could not report its
	// backlog. While [Config].Buffer is full decisions have no event, and are only in the
	// [Snapshot] and the History.
	Decided Kind = 5
)

var kinds = [...]string{
	Progress:  "progress",
	Done:      "done",
	Failed:    "failed",
	Cancelled: "cancelled",
	Decided:   "decided",
}

// String returns the kind in lower case.
func (k Kind) String() string { return wire.Word(kinds[:], k, "Kind") }

// String describes the event in one line.
func (e Event) String() string { return wire.Line(e.text()) }

func (e Event) text() string {
	switch {
	case e.Kind == Decided && e.Err != nil:
		return fmt.Sprintf("%v: %v", e.Decision, e.Err)
	case e.Kind == Decided:
		return e.Decision.String()
	case e.Err != nil:
		return fmt.Sprintf("%s: %v: %v", e.Key, e.Kind, e.Err)
	case e.Value != nil:
		return fmt.Sprintf("%s: %v: %v", e.Key, e.Kind, e.Value)
	}
	return fmt.Sprintf("%s: %v", e.Key, e.Kind)
}

// Report sends a value as a [Progress] event of the task that runs under ctx. While the reader of
// the events is too far behind, Report waits, but not after ctx has ended. Outside of a task, and
// once the task has returned, it does nothing.
func Report(ctx context.Context, value any) {
	ctx = cmp.Or(ctx, context.Background())
	if it, ok := ctx.Value(itemKey{}).(*item); ok {
		it.run.report(ctx, it, value)
	}
}

type itemKey struct{}
