package pool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weir-go/weir/internal/window"
)

// A scaling moves the sizes of a run, and informs its laws of the tasks.
type scaling struct {
	*run
	began time.Duration
	asked chan answer // is answered by the source
}

// An answer is the source's report of its backlog.
type answer struct {
	Depth
	err error
}

// loop decides on sizes, each at its time, until the run ends. The first decisions come
// before anything is claimed.
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

// depth is the number of tasks that wait to start, in the source and here.
func (s *scaling) depth() answer {
	a := s.ask()
	s.mu.Lock()
	defer s.mu.Unlock()
	a.Depth = s.board.waiting(a.Depth, now(), s.shortest())
	return a
}

// ask asks the source for its backlog, which is nothing if it does not answer in time. It is
// not asked again before it has answered, and a late answer is out of date.
func (s *scaling) ask() answer {
	if s.asked != nil {
		select {
		case <-s.asked:
		default:
			return answer{}
		}
	}
	within, cancel := context.WithTimeout(s.ctx, s.shortest())
	asked := make(chan answer, 1)
	s.asked = asked
	s.helpers.Go(func() {
		defer cancel()
		asked <- s.backlog(within)
	})
	<-within.Done() // after an answer at once
	select {
	case a := <-asked:
		s.asked = nil
		return a
	default:
		return answer{}
	}
}

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
		Backlog: depth.Depth, Completed: observed.Completed,
	}
	s.update(func(b *board, _ moment, fx *effects) {
		size = b.decided(d, usage.Limit-each.before, errors.Join(depth.err, err), fx)
	})
	each.apply(size)
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
	outcome := window.Success
	switch {
	case len(it.tickets) == 0:
		return
	case !a.ran || s.ctx.Err() != nil:
		outcome = window.Ignore
	case a.timedOut:
		outcome = window.Timeout
	case a.err != nil:
		outcome = window.Failure
	}
	for i, l := range s.laws {
		l.ended(it.tickets[i], at, outcome)
	}
	it.tickets = it.tickets[:0]
}
