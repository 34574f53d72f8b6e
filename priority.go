package weir

import (
	"context"

	"github.com/weir-go/weir/internal/queue"
)

// A Priority orders work that has to queue: work of a higher priority is served first, and a full
// queue evicts work of the lowest priority for it. A priority has no effect while there is room
// below the limit. The zero value is PriorityNormal.
//
// Lower priorities do not starve: of every 20 slots that come free while they wait, one slot goes
// to the lower priority that has been without a slot for longest. So if work of all four priorities
// waits all the time, the highest priority gets 57 slots of 60, and each other priority gets one.
type Priority int8

// These are the priorities, highest first.
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
