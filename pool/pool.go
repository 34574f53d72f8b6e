package pool

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/clock"
	"github.com/weir-go/weir/internal/wire"
)

// A Pool runs the tasks of a source within a capacity. Make one with [New] and
// run it once. Its methods are safe for concurrent use.
type Pool struct {
	conf    Config
	cost    *capacity.Request
	sizers  []*sizing
	laws    []*lawSizer // of all sizers
	bounded bool        // the source is Bounded
	used    atomic.Bool
	current atomic.Pointer[run]
	drained atomic.Bool
}

// New returns a pool, or an error that matches [ErrConfig] and names the setting, its
// value and the allowed values, or one of package capacity if the default cost can never
// fit. It starts nothing.
func New(c Config) (*Pool, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Pool{conf: c}
	_, p.bounded = c.Source.(Bounded)
	if p.cost, err = c.Capacity.Request(c.Cost); err != nil {
		return nil, fmt.Errorf("%w: Cost is %v: %w", ErrConfig, c.Cost, err)
	}
	if p.sizers, err = newSizings(c); err != nil {
		return nil, err
	}
	for _, s := range p.sizers {
		p.laws = append(p.laws, s.laws...)
	}
	return p, nil
}

// Run runs tasks until the source ends, and yields events in the order in which they
// happen. A task's grant is given back before its event is yielded.
//
// The error is about the run, not a task: ctx ended, the source failed, the first task failed under
// [Config].StopOnError, or a task or the source ignored its context and was left behind
// ([ErrAbandoned]). It comes last, with a zero Event. When ctx ends or the loop breaks, tasks that
// run are cancelled and waited for, for [Config].Grace at most; tasks that did not start are given
// back.
//
// A reader that does not come back delays starts, not running tasks: see
// [Config].Buffer. Run may be called once; after that it yields [ErrUsed].
func (p *Pool) Run(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if p.used.Swap(true) {
			yield(Event{}, ErrUsed)
			return
		}
		r := newRun(p, cmp.Or(ctx, context.Background()))
		p.current.Store(r)
		if p.drained.Load() {
			r.drain()
		}
		defer func() { _ = r.end(errBroken) }() // also if the reader panics; no reader is left
		r.begin()
		if r.deliver(yield) {
			if err := r.end(nil); err != nil {
				yield(Event{}, err)
			}
		}
	}
}

// Drain lets the run end early but in peace: no more tasks are claimed or started, running tasks
// finish, and claimed tasks that did not start end as [Cancelled] with [ErrDrained] and are given
// back. A source that ignores the end of its context is left behind after [Config].Grace.
func (p *Pool) Drain() {
	p.drained.Store(true)
	if r := p.current.Load(); r != nil {
		r.drain()
	}
}

// A Snapshot is the state of a pool at one moment.
type Snapshot struct {
	Running   int      // tasks that run
	Ready     int      // tasks that were claimed and could start
	Blocked   int      // tasks that were claimed and wait for other tasks
	Completed uint64   // tasks that succeeded
	Failed    uint64   // tasks that failed for good
	Cancelled uint64   // tasks that were claimed and did not start
	Abandoned []string // tasks left behind when the run ended

	Decisions []Decision // the last decision for each resource, by name
}

// Snapshot returns the state now.
func (p *Pool) Snapshot() Snapshot {
	r := p.current.Load()
	if r == nil {
		return Snapshot{}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.board.snapshot()
}

// String returns the snapshot as JSON, which makes a Pool an expvar.Var.
func (p *Pool) String() string { return wire.String(p.Snapshot()) }

// History returns the last changes of a size, up to sixteen, oldest first.
func (p *Pool) History() []Decision {
	r := p.current.Load()
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.board.history)
}

func now() time.Duration { return time.Duration(clock.Now()) }
