package pool

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/internal/isolate"
)

// A run is a pool at work: the goroutines and contexts around a board. Each goroutine reports to
// the board under the lock, and performs the effects after it has released the lock. The reader of
// the events is the goroutine that called Run (reader.go). One goroutine claims (feed.go), one
// waits for changes by other users of the capacity, and one scales, if there is a scaler
// (scale.go). Each running task has a goroutine (work.go), which runs the next task when the task
// is done. The end of each lease has a goroutine too.
type run struct {
	*Pool
	outer      context.Context //nolint:containedctx // as given to Run: a run is one call
	ctx        context.Context //nolint:containedctx // of the tasks
	cancel     context.CancelCauseFunc
	claims     context.Context //nolint:containedctx // of the claiming
	stopClaims context.CancelFunc
	leases     context.Context //nolint:containedctx // of the calls that extend leases, also of tasks that are cut short
	endLeases  context.CancelFunc
	scaling    *scaling

	helpers   sync.WaitGroup // all goroutines but the reader's
	readable  chan struct{}  // holds a token if there are events to read
	changed   chan struct{}  // holds a token if look should try to start tasks
	needTasks chan struct{}  // holds a token if the feeder should claim
	sized     chan struct{}  // closed after the first decision
	releasing atomic.Int64   // workers that are about to look for work themselves

	mu    sync.Mutex
	board board
	// A worker is always starting while items are booked; it starts the next worker before it runs
	// its own item. So a slow item delays no other, and a few goroutines serve many fast items,
	// which saves a seventh to a fifth of the time of an empty task.
	spawning bool
	space    chan struct{} // closed when the reader has caught up; nil if no report waits for room

	ended bool          // the reader alone uses ended and last
	last  time.Duration // when the grace ends, once it has begun
}

func newRun(p *Pool, ctx context.Context) *run {
	r := &run{
		Pool: p, outer: ctx,
		readable: make(chan struct{}, 1), changed: make(chan struct{}, 1), needTasks: make(chan struct{}, 1),
		sized: make(chan struct{}),
	}
	r.board = newBoard(&p.conf, p.cost, r.cameUp)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.claims, r.stopClaims = context.WithCancel(r.ctx)
	r.leases, r.endLeases = context.WithCancel(context.WithoutCancel(ctx))
	r.scaling = &scaling{run: r}
	return r
}

func (r *run) begin() {
	if len(r.sizers) > 0 {
		r.helpers.Go(r.scaling.loop)
	} else {
		close(r.sized)
	}
	r.helpers.Go(r.feed)
	r.helpers.Go(r.look)
}

// cameUp is called when the board's place in the queue of the capacity comes up. A worker that is
// about to look for work needs no message.
func (r *run) cameUp() {
	if r.releasing.Load() == 0 {
		signal(r.changed)
	}
}

// signal puts a token into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// update calls the board and performs the effects.
func (r *run) update(what func(b *board, m moment, fx *effects)) {
	var fx effects
	r.mu.Lock()
	what(&r.board, r.moment(now()), &fx)
	r.unlock(&fx)
	r.perform(&fx)
}

// unlock ends a call of the board. It plans a worker if items are booked and no worker is starting.
func (r *run) unlock(fx *effects) {
	if r.board.booked.first != nil && !r.spawning {
		r.spawning, fx.spawn = true, true
	}
	r.mu.Unlock()
}

func (r *run) moment(at time.Duration) moment {
	return moment{at: at, cut: r.ctx.Err() != nil, coming: int(r.releasing.Load())}
}

// stop ends the run: tasks are cancelled with the cause, and tasks that did not start end as
// Cancelled.
func (r *run) stop(why error) {
	r.update(func(b *board, _ moment, fx *effects) { b.stop(why, fx) })
}

// drain ends the run, but lets running tasks finish.
func (r *run) drain() {
	r.update(func(b *board, _ moment, fx *effects) { b.dismiss(ErrDrained, fx) })
}

// end waits for all goroutines, for the rest of the grace period at most, and returns the error of
// the run. A second call returns nil.
func (r *run) end(why error) error {
	if r.ended {
		return nil
	}
	r.ended = true
	if why != nil {
		r.mu.Lock()
		r.board.closed = true // no reader
		r.mu.Unlock()
		r.stop(why)
	}
	r.mu.Lock()
	failed := r.board.why
	r.mu.Unlock()
	r.cancel(failed)
	gone := r.gone()
	r.endLeases()
	r.scaling.restore()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.board.closed = true
	if !gone {
		r.board.leaveBehind()
	}
	return r.board.why
}

// gone waits for the goroutines, and returns false if the grace was too short for them. If they
// have ended, it closes a source made by [Seq].
func (r *run) gone() bool {
	var helpers isolate.Solo
	helpers.Start(r.helpers.Wait)
	if !helpers.Wait(r.grace()) {
		return false
	}
	if s, ok := r.conf.Source.(*seq); ok {
		if err := isolated(s.close); err != nil {
			why := fmt.Errorf("%w: the end of its sequence: %w", ErrSource, err)
			r.mu.Lock()
			r.board.why = errors.Join(r.board.why, why)
			r.mu.Unlock()
		}
	}
	return true
}

// perform performs the effects of a call of the board. No lock may be held.
func (r *run) perform(fx *effects) {
	if fx.cancel != nil {
		r.cancel(fx.cancel)
	}
	if fx.stopClaims {
		r.stopClaims()
	}
	if fx.spawn {
		r.helpers.Go(r.startWorker)
	}
	if fx.short {
		r.scaling.wanted()
	}
	for _, e := range fx.ends {
		r.helpers.Go(func() { r.settle(e) })
	}
	if fx.needTasks {
		signal(r.needTasks)
	}
	if fx.look {
		signal(r.changed)
	}
	if fx.events {
		signal(r.readable)
	}
}

// look waits for changes that no task or reader causes: a place in the queue that comes up while no
// task of this run ends, and the end of the context.
func (r *run) look() {
	for {
		var finished bool
		r.update(func(b *board, m moment, fx *effects) { b.start(m, fx); finished = b.finished() })
		if finished {
			return
		}
		select {
		case <-r.changed:
		case <-r.ctx.Done():
			if r.outer.Err() != nil {
				r.stop(context.Cause(r.outer))
			}
			return
		}
	}
}
