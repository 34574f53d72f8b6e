package weirriver

import (
	"context"

	"github.com/riverqueue/river/rivertype"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/edge"
)

// One returns a function for [Middleware].Gate that names the same gate for every job. It panics if
// the gate is nil: that would limit nothing.
func One(gate edge.Gate) func(*rivertype.JobRow) edge.Gate {
	if edge.IsExempt(gate) {
		panic("weirriver: One of a nil gate")
	}
	return func(*rivertype.JobRow) edge.Gate { return gate }
}

// ByKind returns a function for [Middleware].Gate that gives each kind of job a limiter of its own
// in the set. It panics if the set is nil.
func ByKind(set *bulkhead.Set) func(*rivertype.JobRow) edge.Gate {
	return byKey(set, func(job *rivertype.JobRow) string { return job.Kind })
}

// ByQueue is [ByKind] with a limiter for each of River's queues.
func ByQueue(set *bulkhead.Set) func(*rivertype.JobRow) edge.Gate {
	return byKey(set, func(job *rivertype.JobRow) string { return job.Queue })
}

func byKey(set *bulkhead.Set, key func(*rivertype.JobRow) string) func(*rivertype.JobRow) edge.Gate {
	if set == nil {
		panic("weirriver: by key of a nil set")
	}
	return func(job *rivertype.JobRow) edge.Gate { return keyed{set, key(job)} }
}

// keyed is the gate of a key.
type keyed struct {
	set *bulkhead.Set
	key string
}

func (k keyed) Acquire(ctx context.Context) (weir.Permit, error) { return k.set.Acquire(ctx, k.key) }
