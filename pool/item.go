package pool

import (
	"context"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/reply"
)

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

// before is the order of the ready items.
func (it *item) before(other *item) bool {
	return it.score < other.score || it.score == other.score && it.seq < other.seq
}

// resting is the heap of items that wait for another attempt.
type resting []*item

func (r resting) Len() int           { return len(r) }
func (r resting) Less(i, j int) bool { return r[i].since < r[j].since }
func (r resting) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *resting) Push(x any)        { *r = append(*r, x.(*item)) }
func (r *resting) Pop() any          { return pop((*[]*item)(r)) }
