package weir

import (
	"context"

	"github.com/weir-go/weir/internal/queue"
)

// A Priority orders work that has to queue: a higher one is served first, and a full queue
// evicts the lowest for it. It means nothing while there is room below the limit. The zero
// value is PriorityNormal.
//
// Lower priorities do not starve: of every 20 slots that come free while they wait, one goes
// to the lower priority that has gone longest without. So if all four wait all the time, the
// highest has 57 slots of 60 and each of the others one.
type Priority int8

// The priorities, highest first.
const (
	PriorityCritical Priority = -2
	PriorityHigh     Priority = -1
	PriorityNormal   Priority = 0
	PriorityLow      Priority = 1
)

// lane returns the priority's lane, 0 for the highest. A value beyond either end counts as
// that end.
func (p Priority) lane() int {
	return int(min(max(p, PriorityCritical), PriorityLow) - PriorityCritical)
}

// String returns the priority's name in lower case.
func (p Priority) String() string {
	return [queue.Lanes]string{"critical", "high", "normal", "low"}[p.lane()]
}

type priorityKey struct{}

// WithPriority returns a context whose work queues with the given priority. A
// nil ctx counts as context.Background.
func WithPriority(ctx context.Context, p Priority) context.Context {
	if ctx == nil {
		ctx = context.Background()
	}
	return context.WithValue(ctx, priorityKey{}, p)
}

// PriorityFrom returns the priority that ctx carries, PriorityNormal if it carries none or is nil.
func PriorityFrom(ctx context.Context) Priority {
	if ctx == nil {
		return PriorityNormal
	}
	p, _ := ctx.Value(priorityKey{}).(Priority)
	return p
}
