package pool

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/dag"
)

// A run is a pool at work. Five kinds of goroutines share it: the reader of the events, which
// called Run; one that claims (feed.go); one that waits for timers and turns
// (attend.go); one for each task that runs (work.go), which starts the next itself when it is done; and
// one that scales, if there is a scaler, and has another ask the source what waits (scale.go).
type run struct {
	*Pool
	outer  context.Context //nolint:containedctx // as given to Run: a run is one call
	ctx    context.Context //nolint:containedctx // of the tasks
	cancel context.CancelCauseFunc
	claims context.Context //nolint:containedctx // of the claiming
	sated  context.CancelFunc

	helpers   sync.WaitGroup // all goroutines but the reader's
	wake      chan struct{}  // holds a token if there is something to read
	nudge     chan struct{}  // holds a token if the attendant should look
	hungry    chan struct{}  // holds a token if the feeder should
	sized     chan struct{}  // closed after the first decision
	releasing atomic.Int64   // workers that are about to look for work themselves

	mu       sync.Mutex
	ready    ready
	odd      int // of these, with a cost of their own
	resting  resting
	running  []*item
	settling int // leases that are being given back
	graph    *dag.Graph
	blocked  map[string]*item
	turn     turn
	gate     gate

	fed      bool          // nothing more is claimed
	idle     time.Duration // since when the feeder waits for the source; 0: it does not
	stopped  bool          // nothing more is started
	draining bool
	why      error // the run's error
	events   []Event
	room     chan struct{} // closed when the reader has caught up; nil if nobody waits
	seq      uint64

	completed, failed, cancelled uint64
	abandoned                    []string
	history                      []Decision
	over                         bool // no more events, and no more sizes

	asked chan Depth // is answered by the source; the scaling's alone

	ended bool          // these are the reader's alone
	last  time.Duration // when the grace ends, once it has begun
}

func newRun(p *Pool, ctx context.Context) *run {
	r := &run{
		Pool: p, outer: ctx,
		wake: make(chan struct{}, 1), nudge: make(chan struct{}, 1), hungry: make(chan struct{}, 1),
		sized: make(chan struct{}),
		graph: dag.New(p.conf.Remember), blocked: map[string]*item{},
	}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	r.claims, r.sated = context.WithCancel(r.ctx)
	r.turn = turn{run: r, woken: r.turn.wake}
	return r
}

func (r *run) begin() {
	if len(r.sizers) > 0 {
		r.helpers.Go(r.scale)
	} else {
		close(r.sized)
	}
	r.helpers.Go(r.feed)
	r.helpers.Go(r.attend)
}

// signal puts a token into a channel that holds one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// publish appends an event, under the lock.
func (r *run) publish(e Event) {
	if r.over {
		return
	}
	r.events = append(r.events, e)
	if len(r.events) == 1 {
		signal(r.wake)
	}
}

// report appends an event of a running task once there is room.
func (r *run) report(ctx context.Context, e Event) {
	for {
		r.mu.Lock()
		if r.ctx.Err() != nil {
			r.mu.Unlock()
			return // so that a task which ignores its end cannot put it off
		}
		if len(r.events) < r.conf.Buffer {
			r.publish(e)
			r.mu.Unlock()
			return
		}
		if r.room == nil {
			r.room = make(chan struct{})
		}
		room := r.room
		r.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
	}
}

// deliver yields events until all is done or the reader breaks, which it reports as false.
func (r *run) deliver(yield func(Event, error) bool) bool {
	var batch []Event
	for {
		r.mu.Lock()
		full := len(r.events) >= r.conf.Buffer
		batch, r.events = r.events, batch[:0]
		if r.room != nil {
			close(r.room)
			r.room = nil
		}
		if full {
			r.start(now(), false)
		}
		finished := r.finished()
		stuck := r.stopped && r.left() == 0
		r.mu.Unlock()
		for i := range batch {
			if !yield(batch[i], nil) {
				return false
			}
		}
		if len(batch) == 0 {
			if finished {
				return true
			}
			if !r.await(stuck) {
				return true
			}
		}
		clear(batch)
	}
}

// await waits until there is something to read, and reports false once the grace is used up, of a
// run that was stopped, or that is stuck: it was drained, and only the source does not end.
func (r *run) await(stuck bool) bool {
	if !stuck {
		select {
		case <-r.wake:
			return true
		case <-r.ctx.Done():
		}
	}
	grace := r.patience()
	defer grace.Stop()
	select {
	case <-r.wake:
		return true
	case <-grace.C:
		return false
	}
}

// patience is a timer for what is left of the grace, which begins when it is first asked for.
func (r *run) patience() *time.Timer {
	if r.last == 0 {
		r.last = now() + r.conf.Grace
	}
	return time.NewTimer(r.last - now())
}

// finished reports whether nothing is left to come, under the lock.
func (r *run) finished() bool { return r.fed && r.left() == 0 }

// left counts the tasks that were claimed and have not ended, under the lock.
func (r *run) left() int {
	return r.ready.len() + len(r.resting) + len(r.running) + len(r.blocked) + r.settling
}

// looked wakes the reader if the run is finished, under the lock.
func (r *run) looked() {
	if r.finished() {
		signal(r.wake)
	}
}

// stop ends the run: tasks are cancelled with the cause, and those that did not start end as
// Cancelled.
func (r *run) stop(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopLocked(why)
}

func (r *run) stopLocked(why error) {
	if r.why == nil {
		r.why = why
	}
	r.cancel(why)
	r.dismiss(why)
}

// drain ends the run in peace.
func (r *run) drain() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.draining = true
	r.dismiss(ErrDrained)
}

// dismiss ends what has not started. What the feeder still brings is dismissed as well.
func (r *run) dismiss(why error) {
	r.stopped = true
	r.sated()
	r.turn.leave()
	waiting := slices.Concat(r.ready.all(), r.resting)
	for _, it := range r.blocked {
		waiting = append(waiting, it)
	}
	slices.SortFunc(waiting, func(a, b *item) int { return int(a.seq) - int(b.seq) })
	r.ready, r.resting, r.odd = ready{}, nil, 0
	clear(r.blocked)
	for _, it := range waiting {
		if it.Key != "" {
			r.graph.Fail(it.Key) // who waits for it is among them
		}
		r.conclude(it, Event{Kind: Cancelled, Err: why}, 0)
	}
	signal(r.hungry)
	signal(r.nudge)
	signal(r.wake)
}

// end waits for all goroutines, for a while, and returns the error of the run. It may be called
// again.
func (r *run) end(why error) error {
	if r.ended {
		return nil
	}
	r.ended = true
	if why != nil {
		r.mu.Lock()
		r.over = true // nobody reads
		r.mu.Unlock()
		r.stop(why)
	}
	r.mu.Lock()
	failed := r.why
	r.mu.Unlock()
	r.cancel(failed)
	gone := make(chan struct{})
	go func() { r.helpers.Wait(); close(gone) }()
	grace := r.patience()
	defer grace.Stop()
	select {
	case <-gone:
		if s, ok := r.conf.Source.(*seq); ok {
			s.Close()
		}
	case <-grace.C:
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.restore()
	select {
	case <-gone:
	default:
		r.leaveBehind()
	}
	return r.why
}

// leaveBehind names what did not end in time.
func (r *run) leaveBehind() {
	for _, it := range r.running {
		r.abandoned = append(r.abandoned, fmt.Sprintf("task %q", it.Key))
	}
	if !r.fed || len(r.running) == 0 {
		r.abandoned = append(r.abandoned, "the source")
	}
	slices.Sort(r.abandoned)
	r.why = errors.Join(r.why, fmt.Errorf("%w: %q after %v", ErrAbandoned, r.abandoned, r.conf.Grace))
}

// rest puts an item aside until it may start again.
func (r *run) rest(it *item, until time.Duration) {
	it.since = until
	heap.Push(&r.resting, it)
	signal(r.nudge)
}

// needOf compiles what a task needs.
func (r *run) needOf(t *Task) (*capacity.Need, error) {
	if t.Cost == nil {
		return r.cost, nil
	}
	return r.conf.Capacity.Need(t.Cost)
}
