package pool

import (
	"context"
	"io"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// A Source gives tasks to a pool. The pool calls Claim from one goroutine and Backlog from another.
// Package sourcetest tests a Source.
//
// A Source may have further abilities: the source may be [Bounded], and its leases may be
// [Rejecter]s.
type Source interface {
	// Claim calls handOn with 1 to n tasks, with each as soon as it is claimed, on the goroutine of
	// Claim. It waits for the first task only. After a while it may return without a task, and the
	// pool calls it again. It returns io.EOF when no more tasks will come, and an error soon after
	// ctx ends. With any error the tasks that it handed on are claimed.
	Claim(ctx context.Context, n int, handOn func(Delivery)) error
	// Backlog returns the tasks that could be claimed now, and changes nothing. While it takes
	// longer than a scaler's period, its last answer counts. After ten periods ctx ends, and no
	// answer counts.
	Backlog(ctx context.Context) (Depth, error)
}

// A Bounded source keeps its tasks until they can run, because its leases are short, or because
// other processes claim from it too. The pool holds at most as many tasks as may run at once by
// [Config].Cost, and at least one. It holds a task from the claim to the end of the task, even if
// the lease is settled later. Above that number it claims only when all tasks that it holds wait
// for tasks that have not come.
type Bounded interface {
	Source
	// Bounded does nothing, and is not called.
	Bounded()
}

// A Depth is the backlog of a source.
type Depth struct {
	Count  int64         // the number of tasks
	Oldest time.Duration // how long the oldest task has waited; 0 if that is not known
	Exact  bool          // whether Count is exact, and no estimate

	least bool // the oldest task has waited for Oldest or longer
}

// A Delivery is a task that was claimed.
type Delivery struct {
	Task Task // the task
	// Attempt counts how often the source has delivered the task, with this time. 0 if that is
	// not known.
	Attempt int
	// Lease is nil if the task is the pool's for good.
	Lease Lease
	// LeaseTime is how long the lease lasts unless it is extended. The pool extends it after each
	// third of that time, but at most once a millisecond. With 0 the lease has no end.
	LeaseTime time.Duration
}

// A Lease is the right to work on a task that the source has not forgotten yet. It ends
// with Acknowledge, GiveBack or Reject ([Rejecter]), whichever comes first; a later call is an
// error and changes nothing.
type Lease interface {
	// Acknowledge makes the source forget the task.
	Acknowledge(ctx context.Context) error
	// GiveBack lets the task be claimed again, after a delay.
	GiveBack(ctx context.Context, delay time.Duration) error
	// Extend makes the lease last for [Delivery].LeaseTime from now. An error that matches
	// [ErrLeaseLost] ends the work. After any other error the pool tries again until the lease has
	// run out. A call that ignores the end of ctx does not put that moment off.
	Extend(ctx context.Context) error
}

// A Rejecter is a [Lease] whose task can become a dead letter.
type Rejecter interface {
	// Reject makes the source keep the task apart with the reason, and deliver it no more.
	Reject(ctx context.Context, reason error) error
}

// Slice returns a source of these tasks, whose backlog is exact.
func Slice(tasks []Task) Source { return &slice{tasks: tasks, made: time.Now()} }

type slice struct {
	tasks []Task
	next  atomic.Int64
	made  time.Time
}

func (s *slice) Claim(ctx context.Context, n int, handOn func(Delivery)) error {
	for range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		i := s.next.Add(1) - 1
		if i >= int64(len(s.tasks)) {
			return io.EOF
		}
		handOn(Delivery{Task: s.tasks[i]})
	}
	return nil
}

func (s *slice) Backlog(context.Context) (Depth, error) {
	b := Depth{Count: max(0, int64(len(s.tasks))-s.next.Load()), Exact: true}
	if b.Count > 0 {
		b.Oldest = time.Since(s.made)
	}
	return b, nil
}

// Chan returns a source of the tasks that are sent to c, until c is closed. Its backlog counts only
// the tasks in the buffer of c.
func Chan(c <-chan Task) Source { return channel(c) }

type channel <-chan Task

func (c channel) Claim(ctx context.Context, _ int, handOn func(Delivery)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	select {
	case task, open := <-c:
		if !open {
			return io.EOF
		}
		handOn(Delivery{Task: task})
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (c channel) Backlog(context.Context) (Depth, error) {
	return Depth{Count: int64(len(c))}, nil
}

// Seq returns a source of the tasks of a sequence. The source asks the sequence for a task only
// when the pool claims one. Its backlog is unknown, and counts as 0. The sequence must not wait for
// long, because it gets no message when ctx ends.
func Seq(tasks iter.Seq[Task]) Source { return &seq{tasks: tasks} }

type seq struct {
	mu    sync.Mutex
	tasks iter.Seq[Task]
	next  func() (Task, bool)
	stop  func()
	over  bool
}

func (s *seq) Claim(ctx context.Context, n int, handOn func(Delivery)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil && !s.over {
		s.next, s.stop = iter.Pull(s.tasks)
	}
	for range n {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if s.over {
			return io.EOF
		}
		task, ok := s.next()
		if s.over = !ok; ok {
			handOn(Delivery{Task: task})
		}
	}
	if s.over {
		return io.EOF
	}
	return nil
}

func (s *seq) Backlog(context.Context) (Depth, error) { return Depth{}, nil }

// close ends the sequence, when the run ends.
func (s *seq) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	if s.stop != nil {
		s.stop()
	}
}
