package pool

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/window"
)

// A scaling moves the sizes of a run, and informs its laws of the tasks.
type scaling struct {
	*run
	began time.Duration
	asked chan answer   // receives the source's answer; nil if no question is open
	last  answer        // the last answer
	heard time.Duration // when the last answer came, 0 if none did
	more  atomic.Bool   // a Bounded source has tasks that it keeps until there is room
}

// An answer is the source's report of its backlog.
type answer struct {
	Depth
	err error
}

// loop decides on sizes, each at its time, until the run ends. The first decisions come before the
// first claim, unless the source is slow to report its backlog.
func (s *scaling) loop() {
	s.began = now()
	for _, each := range s.sizers {
		each.apply(each.size)
		each.due = s.began
	}
	next := s.decideDue()
	close(s.sized)
	timer := time.NewTimer(next)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			timer.Reset(s.decideDue())
		case <-s.ctx.Done():
			return
		}
	}
}

// decideDue makes the decisions that are due, and returns the time until the next.
func (s *scaling) decideDue() (next time.Duration) {
	at := now()
	depth := s.depth()
	s.more.Store(s.bounded && depth.Count > 0)
	next = time.Hour
	for _, each := range s.sizers {
		if each.due <= at {
			s.decide(each, at, depth)
			each.due = at + each.plan.Period - (at-each.due)%each.plan.Period
		}
		next = min(next, each.due-at)
	}
	return next - (now() - at)
}

// shortest is the shortest time from one decision to the next.
func (s *scaling) shortest() time.Duration {
	least := time.Hour
	for _, each := range s.sizers {
		least = min(least, each.plan.Period)
	}
	return least
}

// depth returns the tasks that wait to start, in the source and in the pool.
func (s *scaling) depth() answer {
	a := s.ask()
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Depth = s.board.waiting(a.Depth, now(), s.shortest())
	return a
}

// ask asks the source for its backlog. If the answer takes longer than a period, the next call
// waits for that answer and does not ask again. The last answer counts for a number of periods,
// fresh. After that, ask returns an error.
func (s *scaling) ask() answer {
	period := s.shortest()
	if s.asked == nil {
		within, cancel := context.WithTimeout(s.ctx, fresh*period)
		asked := make(chan answer, 1)
		s.asked = asked
		s.helpers.Go(func() {
			defer cancel()
			asked <- s.backlog(within)
		})
	}
	wait := time.NewTimer(period)
	defer wait.Stop()
	select {
	case s.last = <-s.asked:
		s.asked, s.heard = nil, now()
	case <-wait.C:
	case <-s.ctx.Done():
	}
	if s.heard == 0 || now()-s.heard >= fresh*period {
		return answer{err: fmt.Errorf("%w: Backlog: no answer yet, or none within %v", ErrSource, fresh*period)}
	}
	return s.last
}

// fresh is the number of periods for which an answer counts.
const fresh = 10

func (s *scaling) backlog(ctx context.Context) (a answer) {
	exit := isolated(func() {
		d, err := s.conf.Source.Backlog(ctx)
		switch {
		case err != nil:
			a.err = fmt.Errorf("%w: Backlog: %w", ErrSource, err)
		case d.Count < 0:
			a.err = fmt.Errorf("%w: Backlog: %d tasks: want 0 or more", ErrSource, d.Count)
		default:
			a.Depth = d
		}
	})
	if exit != nil {
		return answer{err: fmt.Errorf("%w: Backlog: %w", ErrSource, exit)}
	}
	return a
}

// decide asks a sizer, applies its size and publishes it.
func (s *scaling) decide(each *sizing, at time.Duration, depth answer) {
	usage := each.in.Resource(each.resource)
	s.mu.Lock()
	observed := Observation{
		Elapsed: at - s.began, Size: each.size, InUse: usage.InUse, Backlog: depth.Depth,
		Wanted: s.board.wanted(each.resource), Running: len(s.board.running), Completed: s.board.completed,
	}
	s.mu.Unlock()
	size, why, err := each.next(observed)
	d := Decision{
		At: time.Now(), Resource: each.resource, From: each.size, To: size, Reason: why,
		Most: usage.Limit - each.before, Backlog: depth.Depth, Completed: observed.Completed,
	}
	s.update(func(b *board, _ moment, fx *effects) {
		size = b.decided(d, errors.Join(depth.err, err), fx)
	})
	each.apply(size)
	if size != d.From {
		signal(s.needTasks) // there may be room
	}
}

// restore restores the amounts withheld before the run.
func (s *scaling) restore() {
	for _, each := range s.sizers {
		each.restore()
	}
}

// started, wanted and ended inform the laws.
func (s *scaling) started(it *item) {
	for _, l := range s.laws {
		it.tickets = append(it.tickets, l.started(it.since))
	}
}

func (s *scaling) wanted() {
	for _, l := range s.laws {
		l.wanted(now())
	}
}

func (s *scaling) ended(it *item, at time.Duration, a attempt) {
	outcome := window.Outcome(a.outcome)
	if it.Err() != nil { // the end of the run, or the loss of its lease, has cut it short
		outcome = window.Ignore
	}
	for i, l := range s.laws {
		if s.more.Load() { // no task waits here that would show that the limit holds work back
			l.wanted(at)
		}
		l.ended(it.tickets[i], at, outcome)
	}
	it.tickets = it.tickets[:0]
}

type sizing struct {
	resource string
	in       *capacity.Capacity
	sizer    Sizer
	plan     Plan
	before   int64 // withheld before the run
	size     int64
	due      time.Duration
	laws     []*lawSizer
	over     atomic.Bool // the former amount is withheld again
}

func newSizings(c Config) (all []*sizing, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Scalers)) {
		usage := c.Capacity.Resource(name)
		s := &sizing{resource: name, in: c.Capacity, before: usage.Limit - given(usage)}
		limit := usage.Limit - s.before
		if s.sizer, err = sizerOf(fmt.Sprintf("the Scaler of %q", name), c.Scalers[name], limit); err != nil {
			return nil, err
		}
		if s.plan = s.sizer.Plan(); !s.plan.fits(limit) {
			return nil, fmt.Errorf("%w: the Plan of %q is %+v: "+
				"want a Period above 0 and 0 <= Min <= Initial <= Max <= the limit, which is %d",
				ErrConfig, name, s.plan, limit)
		}
		s.plan.Period = max(s.plan.Period, leastPeriod)
		s.size, s.laws = s.plan.Initial, lawsOf(s.sizer)
		all = append(all, s)
	}
	return all, nil
}

// sizerOf starts a scaler. The name is for errors.
func sizerOf(name string, s Scaler, limit int64) (Sizer, error) {
	if s == nil {
		return nil, fmt.Errorf("%w: %s is nil: want one", ErrConfig, name)
	}
	sizer, err := s.Sizer(limit)
	if err == nil && sizer == nil {
		err = fmt.Errorf("%w: %s returned no Sizer and no error: want one", ErrConfig, name)
	}
	return sizer, err
}

// given returns the amount of a resource that is not withheld.
func given(u capacity.ResourceSnapshot) int64 { return u.InUse + u.Available - u.Owed }

func (p Plan) fits(limit int64) bool {
	return p.Period > 0 && 0 <= p.Min && p.Min <= p.Initial && p.Initial <= p.Max && p.Max <= limit
}

// leastPeriod keeps a scaler from taking a processor for itself: a decision takes some
// microseconds.
const leastPeriod = time.Millisecond

// apply withholds the resource above the size.
func (s *sizing) apply(size int64) {
	if s.over.Load() {
		return
	}
	s.size = size
	s.hold(func(limit int64) int64 { return max(s.before, limit-size) })
	if s.over.Load() { // restore may have come in between
		s.restore()
	}
}

// restore restores the amount withheld before the run, for good.
func (s *sizing) restore() {
	s.over.Store(true)
	s.hold(func(int64) int64 { return s.before })
}

// hold withholds an amount that depends on the limit. It tries again if another user of the
// capacity has lowered the limit meanwhile.
func (s *sizing) hold(withheld func(limit int64) int64) {
	for {
		limit := s.in.Resource(s.resource).Limit
		err := s.in.Withhold(s.resource, min(withheld(limit), limit))
		if err == nil || !errors.Is(err, capacity.ErrConfig) {
			return
		}
	}
}

// next asks the sizer for the size. If the sizer panics or ends its goroutine, the size stays.
func (s *sizing) next(r Observation) (size int64, why Reason, err error) {
	if err = isolated(func() { size, why = s.sizer.Next(r) }); err != nil {
		return r.Size, Reason{Code: Unknown, Signal: "size"}, fmt.Errorf("%w: %q: %w", ErrScaler, s.resource, err)
	}
	for _, l := range s.laws {
		if err == nil {
			err = l.failure()
		}
	}
	return min(max(size, s.plan.Min), s.plan.Max), why, err
}
