package pool

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/dag"
)

// A board knows all claimed tasks, and decides their fate. It has no goroutine, lock or clock, and
// calls no code of users: its callers give it the time and the events, and it returns effects. It
// takes the grants of tasks from the capacity itself.
//
// A run has one board, and guards it by its lock.
type board struct {
	conf  *Config
	cost  *capacity.Request // of a task that names no cost
	graph *dag.Graph
	place place
	outbox

	ready   ready
	booked  line    // items that have their grant and wait for a worker
	running []*item // the booked items, and the items that workers run
	blocked map[string]*item

	idle       time.Duration // when the feeder began to wait for the source; 0 if it does not wait
	sourceDone bool          // no more tasks are claimed
	stopped    bool          // no more tasks are started
	cut        bool          // running tasks are cut short
	why        error         // the run's error
	seq        uint64        // of the last item

	completed, failed, cancelled uint64

	abandoned []string
	history   []Decision // changes
	decisions []Decision // the last decision for each resource
}

// newBoard returns an empty board. The board calls wake when its place in the queue of the capacity
// comes up.
func newBoard(c *Config, cost *capacity.Request, wake func()) board {
	return board{
		conf: c, cost: cost, outbox: outbox{size: c.Buffer}, graph: dag.New(c.History),
		ready: ready{cost: cost}, blocked: map[string]*item{}, place: place{in: c.Capacity, wake: wake},
	}
}

// finished reports whether the source has ended, and all claimed tasks with their leases.
func (b *board) finished() bool { return b.sourceDone && b.left() == 0 }

// held counts the tasks that were claimed and have not ended.
func (b *board) held() int { return b.ready.len() + len(b.running) + len(b.blocked) }

// left counts the held tasks, and the tasks whose leases are being settled.
func (b *board) left() int { return b.held() + b.settling }

// checkFinished wakes the reader if the run is finished.
func (b *board) checkFinished(fx *effects) {
	if b.finished() {
		fx.events = true
	}
}

// A page is the view of a reader.
type page struct {
	events   []Event
	finished bool // no more events will come
	stuck    bool // the board waits only for the end of the source
}

// read returns the events since the last call. It keeps the array of spare for the next events.
func (b *board) read(spare []Event, m moment, fx *effects) page {
	full := b.full(0)
	p := page{events: b.take(spare)}
	if full {
		b.start(m, fx)
	}
	p.finished = b.finished()
	p.stuck = b.stopped && b.left() == 0
	return p
}

// stop ends the run: running tasks are cut short with the cause, and the other tasks are cancelled.
func (b *board) stop(why error, fx *effects) {
	if b.why == nil {
		b.why = why
	}
	b.cut = true
	fx.cancel = why
	b.dismiss(why, fx)
}

// dismiss cancels tasks that have not started. Tasks that the feeder still brings are dismissed
// too.
func (b *board) dismiss(why error, fx *effects) {
	b.stopped = true
	b.place.leave()
	waiting := slices.Concat(b.ready.all(), slices.Collect(maps.Values(b.blocked)))
	b.ready = ready{cost: b.cost}
	clear(b.blocked)
	for _, it := range waiting {
		b.conclude(it, Event{Kind: Cancelled, Err: why}, 0, fx)
	}
	fx.stopClaims, fx.needTasks, fx.look, fx.events = true, true, true, true
}

// waiting adds the tasks that wait here to the source's backlog. A source that has given no task
// for the time patience, although the feeder asked, counts as empty, whatever backlog it reports.
// If it does not know the age of its oldest task, the tasks here give a lower bound.
func (b *board) waiting(d Depth, at, patience time.Duration) Depth {
	if b.sourceDone || b.idle > 0 && at-b.idle >= patience {
		d = Depth{Exact: true}
	}
	d.least = d.Count > 0 && d.Oldest <= 0
	d.Count = min(d.Count, 1<<62) + int64(b.ready.len())
	for _, it := range b.ready.all() {
		d.Oldest = max(d.Oldest, at-it.since)
	}
	return d
}

// wanted is the first task's need of a resource.
func (b *board) wanted(resource string) int64 {
	if b.ready.len() == 0 {
		return 0
	}
	cost := b.ready.first().Cost
	if cost == nil {
		cost = b.conf.Cost
	}
	return cost[resource]
}

// decided publishes a decision on a size, if there is room, and returns the size. While no task
// runs whose end could make room, the size is at least the first task's need, but at most d.Most.
func (b *board) decided(d Decision, err error, fx *effects) int64 {
	if room := b.wanted(d.Resource); len(b.running) == 0 && room > d.To {
		d.To, d.Reason = min(room, d.Most), Reason{Code: Room, Signal: "cost", Have: float64(room)}
	}
	if d.To != d.From {
		b.history = append(b.history, d)
		b.history = b.history[max(0, len(b.history)-16):]
	}
	if i := slices.IndexFunc(b.decisions, func(o Decision) bool { return o.Resource == d.Resource }); i >= 0 {
		b.decisions[i] = d
	} else {
		b.decisions = append(b.decisions, d)
	}
	b.offer(Event{Kind: Decided, Decision: &d, Err: err}, fx) // decisions must not pile up
	return d.To
}

func (b *board) snapshot() Snapshot {
	return Snapshot{
		Running: len(b.running), Ready: b.ready.len(), Blocked: len(b.blocked),
		Completed: b.completed, Failed: b.failed, Cancelled: b.cancelled, Abandoned: slices.Clone(b.abandoned),
		Decisions: slices.Clone(b.decisions),
	}
}

// leaveBehind names the tasks that did not end in time.
func (b *board) leaveBehind() {
	for _, it := range b.running {
		b.abandoned = append(b.abandoned, fmt.Sprintf("task %q", it.Key))
	}
	if !b.sourceDone || len(b.running) == 0 {
		b.abandoned = append(b.abandoned, "the source")
	}
	slices.Sort(b.abandoned)
	b.why = errors.Join(b.why, fmt.Errorf("%w: %q after %v", ErrAbandoned, b.abandoned, b.conf.Grace))
}

// A moment is the time of a call to a board, with facts that the board cannot see itself.
type moment struct {
	at     time.Duration
	cut    bool // the context of the tasks has ended
	coming int  // tasks that have ended and are about to be reported
}

// Effects are the acts that follow a call to a board, with no lock held. The zero value is
// ready to be filled.
type effects struct {
	spawn bool // starts a goroutine for the booked items; the run sets it

	ends   []ending // tasks that ended and have a lease
	cancel error    // ends the context of the tasks, unless nil
	short  bool     // a task waits for capacity: the laws must know

	stopClaims bool // ends the context of the claims
	needTasks  bool // wakes the feeder,
	look       bool // the goroutine that looks,
	events     bool // and the reader
}

// A line holds items in order, chained by next.
type line struct{ first, last *item }

func (l *line) add(it *item) {
	if l.first == nil {
		l.first = it
	} else {
		l.last.next = it
	}
	l.last = it
}

// take removes and returns the first item, nil if there is none.
func (l *line) take() (it *item) {
	if it = l.first; it != nil {
		l.first, it.next = it.next, nil
	}
	return it
}

// An ending is a task that ended: once its lease is settled its last event is published.
type ending struct {
	*item
	Event
	redeliver time.Duration
}

// An outbox keeps the events for their reader. It is part of a board.
type outbox struct {
	events   []Event
	settling int  // tasks that ended, whose events wait until their leases are settled
	size     int  // the number of events from which no more tasks start
	closed   bool // there is no reader any more
}

func (o *outbox) publish(e Event, fx *effects) {
	if o.closed {
		return
	}
	o.events = append(o.events, e)
	if len(o.events) == 1 {
		fx.events = true
	}
}

// offer publishes an event, and reports false if the reader is too far behind.
func (o *outbox) offer(e Event, fx *effects) bool {
	if len(o.events) >= o.size {
		return false
	}
	o.publish(e, fx)
	return true
}

// full reports whether the outbox has no room beside the events that are coming. A source that is
// slow to settle leases holds the pool back as a slow reader does.
func (o *outbox) full(coming int) bool { return len(o.events)+o.settling+coming >= o.size }

// take returns the published events, and keeps the array of spare for the next events.
func (o *outbox) take(spare []Event) (events []Event) {
	events, o.events = o.events, spare[:0]
	return events
}
