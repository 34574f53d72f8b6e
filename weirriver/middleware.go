package weirriver

import (
	"context"
	"errors"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/edge"
)

// A Middleware admits each job through an admitter before it runs. It is a
// [rivertype.WorkerMiddleware] for river.Config.Middleware, or for the Middleware method of one
// worker. Put it before middleware that opens a transaction or counts the time of a job, because
// jobs may wait in it. The zero Middleware limits nothing. Its methods are safe for concurrent use;
// its fields must not change once it is in use.
type Middleware struct {
	river.MiddlewareDefaults

	// Admitter names the admitter of a job: [One], [ByKind], [ByQueue], or a function of your own,
	// which is called concurrently. A job is exempt if the function returns nil or a nil
	// *weir.Limiter. All jobs are exempt if Admitter is nil.
	Admitter func(*rivertype.JobRow) weir.Admitter

	// Priority returns the priority with which a job waits in the admitter's queue. Defaults to
	// [PriorityOf].
	Priority func(*rivertype.JobRow) weir.Priority
}

// Work implements [rivertype.WorkerMiddleware]. The job runs as soon as the admitter admits it. If
// the admitter refuses the job, Work returns River's error for a snooze of [edge.RetryAfter]. If
// the admitter would refuse the job at any later time too, Work returns the refusal, which uses up
// an attempt. If ctx ends while the job waits, Work returns an error that matches the cause, so
// that a client that stops puts the job back.
//
// The slot comes free when the job returns, panics or ends its goroutine. The latency of a job that
// succeeds counts from its admission. A job that snoozes or cancels itself, or is cancelled,
// teaches the limiter nothing. A job that panics, or ends its goroutine, has failed. For other jobs
// see [edge.ErrorOutcome].
func (m *Middleware) Work(ctx context.Context, job *rivertype.JobRow, doInner func(context.Context) error) error {
	var admitter weir.Admitter
	if m.Admitter != nil {
		admitter = m.Admitter(job)
	}
	if edge.IsExempt(admitter) {
		return doInner(ctx)
	}
	priority := PriorityOf
	if m.Priority != nil {
		priority = m.Priority
	}
	permit, err := admitter.Acquire(weir.WithPriority(ctx, priority(job)))
	if err != nil {
		return comeBack(err)
	}
	result := weir.Failure // unless doInner returns
	defer func() { permit.Finish(result) }()
	err = doInner(ctx)
	result = outcome(ctx, err)
	return err
}

// comeBack returns the error that River gets for a job that was not admitted.
func comeBack(err error) error {
	if after, again := edge.RetryAfter(err); again && errors.Is(err, weir.ErrRefused) {
		return river.JobSnooze(after)
	}
	return err
}

// outcome returns the outcome of a job for the downstream that the job calls.
func outcome(ctx context.Context, err error) weir.Outcome {
	if err == nil {
		return weir.Success
	}
	if _, snoozed := errors.AsType[*rivertype.JobSnoozeError](err); snoozed {
		return weir.Ignore
	}
	if _, cancelled := errors.AsType[*rivertype.JobCancelError](err); cancelled {
		return weir.Ignore
	}
	return edge.ErrorOutcome(ctx, err)
}

// PriorityOf returns [weir.PriorityNormal] for a job of River's priority 1, which jobs have by
// default, and [weir.PriorityLow] for priorities 2 to 4. So no job goes before live requests that
// share its limiter. Before that, River fetches the jobs in the order of their priorities.
func PriorityOf(job *rivertype.JobRow) weir.Priority {
	if job.Priority > river.PriorityDefault {
		return weir.PriorityLow
	}
	return weir.PriorityNormal
}

// One returns a function for [Middleware].Admitter that names the same admitter for every job. It
// panics if the admitter is nil, because a nil admitter would limit nothing.
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

// keyed admits work of a key. Its refusal of a key that is too long has the length, which a nil
// handle does not know.
type keyed struct {
	set *bulkhead.Set
	key string
}

func (k keyed) Acquire(ctx context.Context) (weir.Permit, error) { return k.set.Acquire(ctx, k.key) }
