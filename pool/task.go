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
	// Key names the task in events and for others to wait for. Two tasks of one key
	// are not held at the same time: the second fails with [ErrDuplicate]. A task
	// without a key cannot be waited for.
	Key string

	// Run does the work. Its value goes to the [Done] event. It should end soon after
	// ctx does; [Report] sends progress.
	Run func(ctx context.Context) (value any, err error)

	// Cost is the task's need of the capacity while it runs. Defaults to
	// [Config].Cost.
	Cost capacity.Vector

	// Priority puts a task before tasks of lower priority, from -1000 to 1000. A waiting
	// task gains one step in each [Config].Aging.
	Priority int

	// After are the keys of tasks that must succeed first. They may come later from
	// the source. A task that fails cancels its dependents.
	After []string

	// Retry decides about an attempt that failed. Defaults to [Config].Retry.
	Retry Retry
}

// Retry says how often a task is tried and how long it rests in between.
type Retry struct {
	// Attempts is how often in all. Defaults to 1: no retry.
	Attempts int
	// Backoff is the rest before the second attempt, which doubles from one attempt to the
	// next up to Max. Default to 1 s and 1 min; both up to 1000 h.
	Backoff, Max time.Duration
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
	return t.Retry.check("Retry of task " + t.Key)
}

func (r Retry) check(name string) error {
	if r.Attempts < 0 || r.Backoff < 0 || r.Max < 0 || max(r.Backoff, r.Max) > maxLong {
		return fmt.Errorf("%w: %s is %+v: want 0 (the default) or more, and rests up to %v", ErrConfig, name, r, maxLong)
	}
	return nil
}

func (r Retry) orDefault(d Retry) Retry {
	r.Attempts = cmp.Or(r.Attempts, d.Attempts)
	r.Backoff = cmp.Or(r.Backoff, d.Backoff)
	r.Max = cmp.Or(r.Max, max(d.Max, r.Backoff))
	return r
}

func (r Retry) rest(attempt int) time.Duration {
	rest := r.Backoff
	for range attempt - 1 {
		if rest >= r.Max/2 {
			return r.Max
		}
		rest *= 2
	}
	return min(rest, r.Max)
}

// An item is a task that the pool has claimed. It is also the context that the task
// runs under, which saves one for each.
type item struct {
	context.Context //nolint:containedctx // it is one
	Task
	run     *run
	lease   *lease // nil: none
	request *capacity.Request
	grant   capacity.Grant // while it runs
	next    *item          // of the items to run
	seq     uint64         // order of arrival

	score   int64         // lower goes first
	since   time.Duration // when it could start, or may start again
	waited  time.Duration
	attempt int  // of this delivery
	last    bool // it failed for the last time that it is delivered
	index   int  // among the running items

	delivered int // how often; 0: not known
	tickets   []reply.Ticket
}

// attempts counts this attempt and the earlier deliveries, each for one.
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

// compare is the order of the ready items.
func (it *item) compare(other *item) int {
	return cmp.Or(cmp.Compare(it.score, other.score), cmp.Compare(it.seq, other.seq))
}

// resting is the heap of items that wait for another attempt.
type resting []*item

func (r resting) Len() int           { return len(r) }
func (r resting) Less(i, j int) bool { return r[i].since < r[j].since }
func (r resting) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *resting) Push(x any)        { *r = append(*r, x.(*item)) }
func (r *resting) Pop() any {
	last := len(*r) - 1
	it := (*r)[last]
	(*r)[last] = nil
	*r = (*r)[:last]
	return it
}
