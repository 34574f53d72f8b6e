package sourcetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir/pool"
)

// ErrLost is the error of a lease of [MemorySource] that has ended.
var ErrLost = errors.New("sourcetest: the lease has ended")

// MemorySource is a source in memory whose tasks are leased. It ends when all are
// acknowledged. Make one with [NewMemory].
type MemorySource struct {
	length time.Duration

	mu      sync.Mutex
	entries []*entry
	changed chan struct{} // closed and replaced when one may have become free
}

type entry struct {
	task  pool.Task
	since time.Time
	free  time.Time // when it may be claimed
	turn  int       // counts its leases
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

// String returns how many tasks there are.
func (m *MemorySource) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return fmt.Sprintf("%d tasks", len(m.entries))
}

// Claim implements [pool.Source].
func (m *MemorySource) Claim(ctx context.Context) (pool.Delivery, error) {
	for {
		if ctx.Err() != nil {
			return pool.Delivery{}, context.Cause(ctx)
		}
		m.mu.Lock()
		if len(m.entries) == 0 {
			m.mu.Unlock()
			return pool.Delivery{}, io.EOF
		}
		next := slices.MinFunc(m.entries, func(a, b *entry) int { return a.free.Compare(b.free) })
		rest := time.Until(next.free)
		if rest <= 0 {
			next.turn++
			next.free = time.Now().Add(m.length)
			lease := &lease{m, next, next.turn}
			m.mu.Unlock()
			return pool.Delivery{Task: next.task, Lease: lease, LeaseTime: m.length}, nil
		}
		changed := m.changed
		m.mu.Unlock()
		timer := time.NewTimer(rest)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// Peek implements [pool.Peeker].
func (m *MemorySource) Peek(context.Context) (pool.Task, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if time.Until(e.free) <= 0 {
			return e.task, true, nil
		}
	}
	return pool.Task{}, false, nil
}

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

// Left counts the tasks that are not acknowledged.
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
func (l *lease) Acknowledge(context.Context) error {
	return l.do(func() {
		l.e.turn++
		l.of.entries = slices.DeleteFunc(l.of.entries, func(e *entry) bool { return e == l.e })
	})
}

// GiveBack implements [pool.Lease].
func (l *lease) GiveBack(_ context.Context, delay time.Duration) error {
	return l.do(func() {
		l.e.turn++
		l.e.free = time.Now().Add(delay)
	})
}

// Extend implements [pool.Lease].
func (l *lease) Extend(_ context.Context, by time.Duration) error {
	return l.do(func() { l.e.free = time.Now().Add(by) })
}
