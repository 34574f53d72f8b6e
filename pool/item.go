package pool

import (
	"container/heap"
	"context"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/admit"
)

// An item is a task that the pool has claimed. It is also the context that the task
// runs under, which saves one for each.
type item struct {
	context.Context //nolint:containedctx // it is one
	Task
	run   *run
	lease *lease // nil: none
	need  *capacity.Need
	seq   uint64 // order of arrival

	score   int64         // lower goes first
	since   time.Duration // when it could start, or may start again
	waited  time.Duration
	attempt int
	index   int // in its heap, or among those that run
	tickets []admit.Ticket
}

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
	if it.attempt == 0 {
		it.score = int64(now) - int64(it.Priority)*int64(aging)
	}
}

// ready is the heap of those that could start.
type ready []*item

func (r ready) Len() int { return len(r) }
func (r ready) Less(i, j int) bool {
	return r[i].score < r[j].score || r[i].score == r[j].score && r[i].seq < r[j].seq
}
func (r ready) Swap(i, j int)   { r[i], r[j] = r[j], r[i]; r[i].index, r[j].index = i, j }
func (r *ready) Push(x any)     { it := x.(*item); it.index = len(*r); *r = append(*r, it) }
func (r *ready) Pop() (x any)   { return pop((*[]*item)(r)) }
func (r *ready) add(it *item)   { heap.Push(r, it) }
func (r *ready) first() *item   { return (*r)[0] }
func (r *ready) take() *item    { return heap.Pop(r).(*item) }
func (r *ready) remove(i *item) { heap.Remove(r, i.index) }

// resting is the heap of those that wait for another attempt.
type resting []*item

func (r resting) Len() int           { return len(r) }
func (r resting) Less(i, j int) bool { return r[i].since < r[j].since }
func (r resting) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *resting) Push(x any)        { *r = append(*r, x.(*item)) }
func (r *resting) Pop() (x any)      { return pop((*[]*item)(r)) }

func pop(s *[]*item) *item {
	last := len(*s) - 1
	it := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return it
}
