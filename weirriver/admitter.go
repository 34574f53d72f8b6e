package weirriver

import (
	"context"

	"github.com/riverqueue/river/rivertype"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/edge"
)

// One returns a function for [Middleware].Admitter that names the same admitter for every job. It
// panics if the admitter is nil: that would limit nothing.
func One(admitter weir.Admitter) func(*rivertype.JobRow) weir.Admitter {
	if edge.IsExempt(admitter) {
		panic("weirriver: One of a nil admitter")
	}
	return func(*rivertype.JobRow) weir.Admitter { return admitter }
}

// ByKind returns a function for [Middleware].Admitter that gives each kind of job a limiter of its
// own in the set. It panics if the set is nil.
func ByKind(set *bulkhead.Set) func(*rivertype.JobRow) weir.Admitter {
	return byKey(set, func(job *rivertype.JobRow) string { return job.Kind })
}

// ByQueue is [ByKind] with a limiter for each of River's queues.
func ByQueue(set *bulkhead.Set) func(*rivertype.JobRow) weir.Admitter {
	return byKey(set, func(job *rivertype.JobRow) string { return job.Queue })
}

func byKey(set *bulkhead.Set, key func(*rivertype.JobRow) string) func(*rivertype.JobRow) weir.Admitter {
	if set == nil {
		panic("weirriver: by key of a nil set")
	}
	return func(job *rivertype.JobRow) weir.Admitter { return keyed{set, key(job)} }
}

type keyed struct {
	set *bulkhead.Set
	key string
}

func (k keyed) Acquire(ctx context.Context) (weir.Permit, error) { return k.set.Acquire(ctx, k.key) }
