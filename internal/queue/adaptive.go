package queue

import (
	"container/heap"

	"github.com/weir-go/weir/internal/reply"
)

// Adaptive serves the earliest deadline first. In a lane with a standing queue it serves the newest
// first, and sheds the waiters that are above their target. Decision 0004 has the measurements.
const Adaptive Order = 1

type adaptive struct{ lanes [Lanes]laneState }

// screen sets the latest time at which w's work must start: early enough to finish or, without
// a deadline, before its time in the queue is up.
func (a *adaptive) screen(w *Waiter, o outlook) reply.Verdict {
	w.latest = w.expires
	if w.HasDeadline() {
		w.latest = w.Deadline - o.service
	}
	w.expires = min(w.expires, w.latest+1) // its timer fires even without another call
	expected := o.now + o.service
	if o.mixed && !a.lanes[w.Lane].stands(o.now) {
		expected += o.wait
	}
	if w.HasDeadline() && expected > w.Deadline {
		return reply.Deadline
	}
	return reply.Waiting
}

func (a *adaptive) next(l line, now int64) *Waiter {
	s := &a.lanes[l.newest.Lane]
	switch {
	case s.stands(now):
		return l.newest
	case l.kind == byTenant:
		return l.mostUrgent()
	}
	return s.urgent[0]
}

func (a *adaptive) yields(l line) *Waiter { return l.oldest() }

// gaveWay notes that the queue is full, and therefore standing: the oldest waiters are evicted as
// fast as other waiters come, and may all leave before they are above their target.
func (a *adaptive) gaveWay(w *Waiter, now int64) { a.lanes[w.Lane].noteShed(w, now) }

// late returns a waiter that can no longer start in time or, in a standing queue, is above its
// target.
func (a *adaptive) late(lanes []lane, now int64) *Waiter {
	for i := range a.lanes {
		s := &a.lanes[i]
		if s.isLate(now) {
			return s.urgent[0]
		}
		if oldest := lanes[i].oldest(byLane); s.sheds(oldest, now) {
			return oldest
		}
	}
	return nil
}

func (a *adaptive) added(w *Waiter)   { heap.Push(&a.lanes[w.Lane].urgent, w) }
func (a *adaptive) removed(w *Waiter) { heap.Remove(&a.lanes[w.Lane].urgent, w.position) }

// A laneState is the adaptive order's state of a lane: the waiters by the time at which they must
// start, and whether the queue is standing. CoDel (Nichols and Jacobson, 2012) has this idea: a
// queue is standing if its wait has been above a target for an interval, and not because it is
// long.
type laneState struct {
	urgent deadlines
	above  int64 // since when the oldest waiter has been above its target; 0 if it is not above
	shed   int64 // when a waiter was last shed, and its target
	target int64
}

// isLate reports whether the first waiter can no longer start in time.
func (s *laneState) isLate(now int64) bool { return len(s.urgent) > 0 && s.urgent[0].latest < now }

// stands reports whether the queue is standing. A queue is not standing after the clock was turned
// back.
func (s *laneState) stands(now int64) bool { return now >= s.shed && now-s.shed < s.target }

// sheds reports whether to shed the oldest waiter, which may be nil. The queue is standing once its
// oldest waiters have been above their target for an interval, until no waiter was above its target
// for an interval. The interval is the target.
func (s *laneState) sheds(oldest *Waiter, now int64) bool {
	if oldest == nil || now-oldest.joined <= oldest.target() {
		s.above = 0
		return false
	}
	target := oldest.target()
	if s.above == 0 {
		s.above = oldest.joined + target
	}
	if !s.stands(now) && now-s.above < target {
		return false
	}
	s.noteShed(oldest, now)
	return true
}

// noteShed makes the queue a standing one for an interval from now on.
func (s *laneState) noteShed(w *Waiter, now int64) { s.shed, s.target = now, w.target() }

// target is how long a waiter may wait in a standing queue: half of the time in which its work can
// still start. Half of the caller's time would suit only quick work: if the work takes the other
// half, each waiter is late before it is above such a target.
func (w *Waiter) target() int64 { return (min(w.latest, w.joined+w.patience) - w.joined) / 2 }

// deadlines is a heap of waiters, with the waiter that must start first on top.
type deadlines []*Waiter

// before reports whether w must start before the other waiter.
func (w *Waiter) before(other *Waiter) bool {
	if w.latest != other.latest {
		return w.latest < other.latest
	}
	return w.joined < other.joined
}

func (h deadlines) Len() int           { return len(h) }
func (h deadlines) Less(i, j int) bool { return h[i].before(h[j]) }

func (h deadlines) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].position, h[j].position = i, j
}

func (h *deadlines) Push(x any) {
	w := x.(*Waiter)
	w.position = len(*h)
	*h = append(*h, w)
}

func (h *deadlines) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return w
}
