package pool

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A lease keeps what a task was claimed with alive until it is settled.
type lease struct {
	Lease
	length time.Duration
	lose   context.CancelCauseFunc // ends the task's context

	mu      sync.Mutex
	settled bool
	timer   *time.Timer
	lost    error
}

// hold extends the lease again and again.
func (l *lease) hold(ctx context.Context) {
	if l.length <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timer = time.AfterFunc(l.length/3, func() { l.extend(ctx) })
}

func (l *lease) extend(ctx context.Context) {
	l.mu.Lock()
	settled := l.settled
	l.mu.Unlock()
	if settled {
		return
	}
	within, cancel := context.WithTimeout(ctx, l.length)
	defer cancel()
	err := guarded(func() error { return l.Extend(within, l.length) })
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.settled:
	case err != nil:
		l.lost = fmt.Errorf("%w: %w", ErrLeaseLost, err)
		l.lose(l.lost)
	default:
		l.timer.Reset(l.length / 3)
	}
}

// settle ends the lease by what became of its task, and returns why it could not.
func (l *lease) settle(ctx context.Context, grace time.Duration, end func(context.Context) error) error {
	l.mu.Lock()
	l.settled = true
	if l.timer != nil {
		l.timer.Stop()
	}
	lost := l.lost
	l.mu.Unlock()
	l.lose(nil)
	if lost != nil {
		return lost
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	return guarded(func() error { return end(within) })
}

// guarded calls a source, whose panic is an error.
func guarded(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: it panicked: %v", ErrSource, p)
		}
	}()
	return call()
}
