package pool

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/reply"
)

// A Task is a piece of work. Only Run must be set.
type Task struct {
	// Key names the task in events, and in the After of other tasks. Two tasks of one key are not
	// held at the same time: the second fails with [ErrDuplicate]. A task without a key cannot be
	// waited for.
	Key string

	// Run does the work. Its value goes to the [Done] event. It should end soon after
	// ctx does; [Report] sends progress.
	Run func(ctx context.Context) (value any, err error)

	// Cost is the task's need of the capacity while it runs. Defaults to [Config].Cost. A task that
	// needs more than a limit fails with capacity.ErrNeverFits. As after any other failure it is
	// given back, up to [Config].MaxAttempts, since the limit may rise again.
	Cost capacity.Vector

	// Priority puts a task before tasks of lower priority, from -1000 to 1000. A waiting
	// task gains one step in each [Config].Aging.
	Priority int

	// After are the keys of tasks that must succeed first. They may come later from
	// the source. A task that fails cancels its dependents.
	After []string
}

const (
	highest = 1000
	maxLong = 1000 * time.Hour // the gain of a task by aging must fit an int64
)

func (t *Task) check() error {
	switch {
	case t.Run == nil:
		return fmt.Errorf("%w: task %q has no Run", ErrConfig, t.Key)
	case t.Priority < -highest || t.Priority > highest:
		return fmt.Errorf("%w: Priority of task %q is %d: want %d to %d",
			ErrConfig, t.Key, t.Priority, -highest, highest)
	case t.Key == "" && len(t.After) > 0:
		return fmt.Errorf("%w: a task without a Key is After %q: want a Key", ErrConfig, t.After)
	}
	return nil
}

// An item is a task that the pool has claimed. It is also the context that the task runs under,
// which saves the allocation of a context.
type item struct {
	context.Context //nolint:containedctx // it is one
	Task
	run     *run
	lease   *lease // nil: none
	request *capacity.Request
	fault   error          // why the task can never run
	grant   capacity.Grant // while it runs
	next    *item          // the next item in its line
	seq     uint64         // order of arrival

	score   int64         // the lowest score goes first
	since   time.Duration // when the task could start, or when it started
	waited  time.Duration
	attempt int  // 1 once it was started
	last    bool // it failed at its last delivery
	index   int  // among the running items

	delivered int // the number of deliveries; 0: not known
	tickets   []reply.Ticket
}

// attempts returns the number of this attempt. Each earlier delivery counts as one attempt.
func (it *item) attempts() int { return it.attempt + max(0, it.delivered-1) }

// Value makes Report find the task.
func (it *item) Value(key any) any {
	if key == (itemKey{}) {
		return it
	}
	return it.Context.Value(key)
}

// rank places a task that may start from now on: each step of priority is worth one
// Aging of waiting. So the order of two tasks never changes while they wait.
func (it *item) rank(now, aging time.Duration) {
	it.since = now
	it.score = int64(now) - int64(it.Priority)*int64(aging)
}

// compare orders the ready items.
func (it *item) compare(other *item) int {
	return cmp.Or(cmp.Compare(it.score, other.score), cmp.Compare(it.seq, other.seq))
}
