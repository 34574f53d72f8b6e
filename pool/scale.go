package pool

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/window"
)

// sizing is the scaling of one resource.
type sizing struct {
	resource string
	Sizer
	plan     Plan
	before   int64 // the reserve before the run
	size     int64
	due      time.Duration
	watchers []*lawSizer
}

func newSizers(c Config) (all []*sizing, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Scalers)) {
		usage := c.Capacity.Usage(name)
		s := &sizing{resource: name, before: usage.Limit - usage.InUse - usage.Available + usage.Owed}
		if s.Sizer, err = c.Scalers[name].Sizer(usage.Limit - s.before); err != nil {
			return nil, err
		}
		s.plan = s.Plan()
		s.size, s.watchers = s.plan.Initial, observers(s.Sizer)
		all = append(all, s)
	}
	return all, nil
}

// scale decides on sizes, each at its time, until the run ends. The first decisions come
// before anything is claimed.
func (r *run) scale() {
	began := now()
	for _, s := range r.sizers {
		r.apply(s, s.size)
		s.due = began
	}
	first := true
	for {
		at := now()
		depth := r.depth()
		next := at + time.Hour
		for _, s := range r.sizers {
			if s.due <= at {
				r.decide(s, at-began, depth)
				for s.due <= at {
					s.due += s.plan.Period
				}
			}
			next = min(next, s.due)
		}
		if first {
			close(r.sized)
			first = false
		}
		timer := time.NewTimer(next - now())
		select {
		case <-timer.C:
		case <-r.ctx.Done():
			timer.Stop()
			return
		}
	}
}

// depth is what waits to start, in the source and here. A source whose Claim is waiting has
// nothing, whatever it says.
func (r *run) depth() (d Depth) {
	d = r.ask()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fed || r.idle > 0 && now()-r.idle >= r.shortest() {
		d = Depth{Exact: true}
	}
	d.Count = min(d.Count, 1<<62) + int64(r.ready.len())
	for _, it := range r.ready.all() {
		d.Oldest = max(d.Oldest, now()-it.since)
	}
	return d
}

// ask asks the source for its backlog, which is nothing if it does not answer in time. It is
// not asked again before it has answered, and what it answers late is out of date.
func (r *run) ask() Depth {
	if r.asked != nil {
		select {
		case <-r.asked:
		default:
			return Depth{}
		}
	}
	within, cancel := context.WithTimeout(r.ctx, r.shortest())
	asked := make(chan Depth, 1)
	r.asked = asked
	r.helpers.Go(func() {
		defer cancel()
		asked <- r.backlog(within)
	})
	<-within.Done() // after an answer at once
	select {
	case d := <-asked:
		r.asked = nil
		return d
	default:
		return Depth{}
	}
}

func (r *run) backlog(ctx context.Context) (d Depth) {
	defer func() {
		if recover() != nil {
			d = Depth{}
		}
	}()
	d, err := r.conf.Source.Backlog(ctx)
	if err != nil || d.Count < 0 {
		return Depth{}
	}
	return d
}

// shortest is the shortest time from one decision to the next.
func (r *run) shortest() time.Duration {
	least := time.Hour
	for _, s := range r.sizers {
		least = min(least, s.plan.Period)
	}
	return least
}

// decide asks a sizer, applies what it says and publishes it.
func (r *run) decide(s *sizing, elapsed time.Duration, depth Depth) {
	usage := r.conf.Capacity.Usage(s.resource)
	r.mu.Lock()
	reading := Reading{
		Elapsed: elapsed, Size: s.size, InUse: usage.InUse, Backlog: depth,
		Wanted: r.wanted(s.resource), Running: len(r.running), Completed: r.completed,
	}
	r.mu.Unlock()
	size, why := s.Next(reading)
	size = min(max(size, s.plan.Min), s.plan.Max)
	if room := r.roomFor(s.resource); room > size {
		size, why = min(room, usage.Limit-s.before), Reason{Code: Room, Signal: "cost", Have: float64(room)}
	}
	d := Decision{
		At: time.Now(), Resource: s.resource, From: s.size, To: size, Reason: why, Backlog: depth, Completed: reading.Completed,
	}
	r.mu.Lock()
	if d.To != d.From {
		r.history = append(r.history, d)
		r.history = r.history[max(0, len(r.history)-16):]
	}
	r.publish(Event{Kind: Decided, Decision: &d})
	r.mu.Unlock()
	r.apply(s, size)
}

// roomFor is what the first task needs of a resource while nothing runs that could make room.
func (r *run) roomFor(resource string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.running) > 0 {
		return 0
	}
	return r.wanted(resource)
}

// wanted is what the first task needs of a resource, under the lock.
func (r *run) wanted(resource string) int64 {
	if r.ready.len() == 0 {
		return 0
	}
	cost := r.ready.first().Cost
	if cost == nil {
		cost = r.conf.Cost
	}
	return cost[resource]
}

// apply holds back what is above the size.
func (r *run) apply(s *sizing, size int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	s.size = size
	r.hold(s, func(limit int64) int64 { return max(s.before, limit-size) })
}

// restore puts the reserves back to what they were, under the lock.
func (r *run) restore() {
	for _, s := range r.sizers {
		r.hold(s, func(int64) int64 { return s.before })
	}
}

// hold sets a reserve by the limit, which somebody else may lower at any moment.
func (r *run) hold(s *sizing, reserve func(limit int64) int64) {
	for {
		limit := r.conf.Capacity.Usage(s.resource).Limit
		err := r.conf.Capacity.Reserve(s.resource, min(reserve(limit), limit))
		if err == nil || !errors.Is(err, capacity.ErrConfig) {
			return
		}
	}
}

// observeStart, observeWant and observeEnd tell the laws, under the lock of the run.
func (r *run) observeStart(it *item, at time.Duration) {
	for _, s := range r.sizers {
		for _, w := range s.watchers {
			it.tickets = append(it.tickets, w.started(at))
		}
	}
}

func (r *run) observeWant() {
	for _, s := range r.sizers {
		for _, w := range s.watchers {
			w.wanted(now())
		}
	}
}

func (r *run) observeEnd(it *item, at time.Duration, a attempt) {
	outcome := window.Success
	switch {
	case !a.ran || r.ctx.Err() != nil:
		outcome = window.Ignore
	case errors.Is(a.err, context.DeadlineExceeded):
		outcome = window.Timeout
	case a.err != nil:
		outcome = window.Failure
	}
	i := 0
	for _, s := range r.sizers {
		for _, w := range s.watchers {
			w.ended(&it.tickets[i], at, outcome)
			i++
		}
	}
	it.tickets = it.tickets[:0]
}
