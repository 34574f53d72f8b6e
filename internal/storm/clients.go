package storm

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weir-go/weir"
)

// A Gate admits an operation before it starts. The caller calls done when the operation
// ends.
type Gate func(ctx context.Context) (done func(error), err error)

// Open lets everything pass.
func Open(context.Context) (func(error), error) { return func(error) {}, nil }

// Clients work in a closed loop: each starts its next operation when its last has ended.
type Clients struct {
	Number int
	Gate   Gate
	Work   func(ctx context.Context, client int) error
	Pause  time.Duration // of a client between two operations
	// Await, if set, blocks a client before it asks, until the next burst.
	Await func(ctx context.Context)
	// Log receives each operation and the number of its client.
	Log func(client int, e Entry)
}

// An Entry records one operation: when its client asked, when it started and ended, and when
// the client continued. Started and Ended are zero if the operation was refused or its gate
// failed.
type Entry struct {
	Asked, Started, Ended, Left time.Time
	Refused                     bool
	Err                         error // of the gate or the work; nil if it was refused
}

// Database returns the duration of the operation after it started.
func (e Entry) Database() time.Duration { return e.Ended.Sub(e.Started) }

// WithWait returns the duration of the operation including the wait.
func (e Entry) WithWait() time.Duration { return e.Left.Sub(e.Asked) }

// Run returns after ctx has ended and every client has returned.
func (c Clients) Run(ctx context.Context) {
	var running sync.WaitGroup
	for client := range c.Number {
		running.Go(func() {
			for ctx.Err() == nil {
				if c.Await != nil {
					c.Await(ctx)
				}
				c.Log(client, c.once(ctx, client))
				if c.Pause > 0 {
					Pause(ctx, c.Pause)
				}
			}
		})
	}
	running.Wait()
}

// once runs one operation. A refused client waits for one to two times RetryAfter, so that
// the refused clients do not all return at once.
func (c Clients) once(ctx context.Context, client int) Entry {
	e := Entry{Asked: time.Now()}
	done, err := c.Gate(ctx)
	if refusal := (*weir.RefusedError)(nil); errors.As(err, &refusal) {
		Pause(ctx, max(time.Duration(float64(refusal.RetryAfter)*(1+rand.Float64())), time.Millisecond))
		e.Refused, e.Left = true, time.Now()
		return e
	}
	if err != nil {
		e.Err = err
		return e
	}
	e.Started = time.Now()
	e.Err = c.Work(ctx, client)
	e.Ended = time.Now()
	done(e.Err)
	e.Left = time.Now()
	return e
}

// Pause sleeps for d, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
