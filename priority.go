package weir

import "context"

// A Priority orders work that has to queue: all that waits with a higher one is
// served first. It means nothing while there is room below the limit. The zero
// value is Normal.
type Priority int8

// The priorities, highest first.
const (
	Critical Priority = iota - 2
	High
	Normal
	Low
)

// lanes is how many priorities there are; each waits in a lane of its own.
const lanes = int(Low-Critical) + 1

// lane returns the priority's lane, 0 for the highest; what is beyond either end
// counts as that end.
func (p Priority) lane() int { return int(min(max(p, Critical), Low) - Critical) }

// String returns the priority's name in lower case.
func (p Priority) String() string {
	return [lanes]string{"critical", "high", "normal", "low"}[p.lane()]
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

// PriorityFrom returns the priority that ctx carries, Normal if it carries none.
func PriorityFrom(ctx context.Context) Priority {
	p, _ := ctx.Value(priorityKey{}).(Priority)
	return p
}
