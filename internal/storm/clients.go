package storm

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/weir-go/weir"
)

// A Gate is what an operation has to pass before it starts. It returns what to call when
// the operation is over.
type Gate func(ctx context.Context) (done func(error), err error)

// Open lets everything pass.
func Open(context.Context) (func(error), error) { return func(error) {}, nil }

// Clients work in a closed loop: each starts its next operation when its last has ended.
type Clients struct {
	Number int
	Gate   Gate
	Work   func(ctx context.Context, client int) error
	Pause  time.Duration // of a client between two operations
	// Await, if set, is where a client waits before it asks: for the next burst.
	Await func(ctx context.Context)
	// Log is told of each operation, by the client that made it.
	Log func(client int, e Entry)
}

// An Entry is one operation: when its client asked, when it started and ended, and when the client
// could go on. One that was refused, or whose gate failed, did not start.
type Entry struct {
	Asked, Started, Ended, Left time.Time
	Refused                     bool
	Err                         error // of the gate or the work; nil if it was refused
}

// Database is how long the operation took once it started.
func (e Entry) Database() time.Duration { return e.Ended.Sub(e.Started) }

// WithWait is how long the client waited for it in all.
func (e Entry) WithWait() time.Duration { return e.Left.Sub(e.Asked) }

// Run returns once ctx has ended and all clients have.
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

// once is one operation. A client that is refused comes back when the refusal says, or up to as
// much later, so that not all come back at once.
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

// Pause waits for so long, or until ctx ends.
func Pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
