package sourcetest

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir/pool"
)

// ErrLost is the error of a lease of [MemorySource] that has ended.
var ErrLost = errors.New("sourcetest: the lease has ended")

// MemorySource is a source in memory whose tasks are leased. It ends when all tasks are
// acknowledged or rejected. A pool holds no more of its tasks than it can run. Make one with
// [NewMemory].
type MemorySource struct {
	length time.Duration

	mu      sync.Mutex
	entries []*entry
	dead    []DeadLetter
	changed chan struct{} // closed and replaced when a task may have become free
}

// A DeadLetter is a task that was rejected, and why.
type DeadLetter struct {
	Task   pool.Task // the task
	Reason error     // the reason
}

type entry struct {
	task  pool.Task
	since time.Time
	free  time.Time // when it may be claimed
	turn  int       // counts the leases of the task, and their ends

	delivered int
}

// NewMemory returns a source of these tasks, whose leases last for length unless they are
// extended.
func NewMemory(length time.Duration, tasks []pool.Task) *MemorySource {
	m := &MemorySource{length: length, changed: make(chan struct{})}
	now := time.Now()
	for _, task := range tasks {
		m.entries = append(m.entries, &entry{task: task, since: now, free: now})
	}
	return m
}

// Claim implements [pool.Source].
func (m *MemorySource) Claim(ctx context.Context, n int, handOn func(pool.Delivery)) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		claimed, rest, changed := m.take(n)
		switch {
		case len(claimed) > 0:
			for _, d := range claimed {
				handOn(d)
			}
			return nil
		case changed == nil:
			return io.EOF
		}
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// take claims up to n tasks. If no task is free, it returns the time until a lease or a delay ends,
// and a channel that is closed at a change before. The channel is nil if no tasks are left.
func (m *MemorySource) take(n int) (claimed []pool.Delivery, rest time.Duration, changed <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.entries) > 0 && len(claimed) < n {
		next := slices.MinFunc(m.entries, func(a, b *entry) int { return a.free.Compare(b.free) })
		if rest = time.Until(next.free); rest > 0 {
			break
		}
		next.turn++
		next.delivered++
		next.free = time.Now().Add(m.length)
		claimed = append(claimed, pool.Delivery{
			Task: next.task, Attempt: next.delivered, Lease: &lease{m, next, next.turn}, LeaseTime: m.length,
		})
	}
	if len(m.entries) > 0 {
		changed = m.changed
	}
	return claimed, rest, changed
}

// Bounded implements [pool.Bounded].
func (*MemorySource) Bounded() {}

// Backlog implements [pool.Source].
func (m *MemorySource) Backlog(context.Context) (d pool.Depth, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	d.Exact = true
	for _, e := range m.entries {
		if time.Until(e.free) <= 0 {
			d.Count++
			d.Oldest = max(d.Oldest, time.Since(e.since))
		}
	}
	return d, nil
}

// DeadLetters returns the tasks that were rejected, oldest first.
func (m *MemorySource) DeadLetters() []DeadLetter {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.dead)
}

// Left counts the tasks that are neither acknowledged nor rejected.
func (m *MemorySource) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.entries)
}

type lease struct {
	of   *MemorySource
	e    *entry
	turn int
}

// do changes the entry of a lease that has not ended.
func (l *lease) do(change func()) error {
	m := l.of
	m.mu.Lock()
	defer m.mu.Unlock()
	if l.e.turn != l.turn || time.Until(l.e.free) <= 0 {
		return ErrLost
	}
	change()
	close(m.changed)
	m.changed = make(chan struct{})
	return nil
}

// Acknowledge implements [pool.Lease].
func (l *lease) Acknowledge(context.Context) error { return l.do(l.remove) }

// Reject implements [pool.Rejecter].
func (l *lease) Reject(_ context.Context, reason error) error {
	return l.do(func() {
		l.remove()
		l.of.dead = append(l.of.dead, DeadLetter{l.e.task, reason})
	})
}

func (l *lease) remove() {
	l.e.turn++
	l.of.entries = slices.DeleteFunc(l.of.entries, func(e *entry) bool { return e == l.e })
}

// GiveBack implements [pool.Lease].
func (l *lease) GiveBack(_ context.Context, delay time.Duration) error {
	return l.do(func() {
		l.e.turn++
		l.e.free = time.Now().Add(delay)
	})
}

// Extend implements [pool.Lease].
func (l *lease) Extend(context.Context) error {
	return l.do(func() { l.e.free = time.Now().Add(l.of.length) })
}
